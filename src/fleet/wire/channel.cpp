#include "fleet/wire/channel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/support/channel_arguments.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "fleet/wire/denied.h"
#include "fleet/wire/limits.h"
#include "fleet/wire/state_directory.h"
#include "fleet/wire/unix_socket.h"
#include "fleet/wire/user_name.h"

namespace attune::wire {
namespace {

Error nobody(const std::string& state) {
  return {ErrorCode::NotFound, fmt::format("no scheduler has served {} yet", state),
          "start one with 'attune scheduler'"};
}

Error not_shared(const std::string& state, std::uint32_t owner) {
  return denied(fmt::format("the scheduler of {} is {}'s and is not shared with you", state,
                            user_name(owner)),
                "its user may start it with --share GROUP, for a group that you are in");
}

// Nobody else can have put something in a folder of these rights, or have replaced it.
Status check_folder(const std::string& folder, const struct stat& status, std::uint32_t owner) {
  if (status.st_uid != owner) {
    return denied(fmt::format("'{}' is {}'s, but the scheduler is {}'s", folder,
                              user_name(status.st_uid), user_name(owner)));
  }
  if ((status.st_mode & 022) != 0) {
    return denied(
        fmt::format("others may write to '{}', so that its scheduler cannot be trusted", folder),
        fmt::format("make it private with 'chmod go-w {}'", folder));
  }
  struct stat above = {};
  const std::string parent = std::filesystem::path(folder).parent_path().string();
  const bool open_to_all = ::stat(parent.c_str(), &above) == 0 && (above.st_mode & 02) != 0 &&
                           (above.st_mode & S_ISVTX) == 0;
  if (!open_to_all) return {};
  return denied(
      fmt::format("everybody may write to '{}', so that '{}' cannot be trusted", parent, folder),
      "name another folder with --state DIR");
}

}  // namespace

Result<Way> find_scheduler(const std::string& state) {
  struct stat status = {};
  if (::stat(state.c_str(), &status) != 0) {
    if (errno != EACCES) return nobody(state);
    return denied(fmt::format("this user may not look for a scheduler at {}", state),
                  "a folder above it is closed to others");
  }
  const std::uint32_t owner = status.st_uid;
  std::string folder = state;
  if (owner != ::geteuid()) {
    folder = shared_directory(state);
    if (::stat(folder.c_str(), &status) != 0) return not_shared(state, owner);
  }
  ATTUNE_RETURN_IF_ERROR(check_folder(folder, status, owner));
  if (::access(folder.c_str(), X_OK) != 0) return not_shared(state, owner);
  struct stat socket = {};
  const std::string path = socket_path(folder);
  if (::lstat(path.c_str(), &socket) != 0 || !S_ISSOCK(socket.st_mode)) return nobody(state);
  if (socket.st_uid == owner) return Way{path, owner};
  return denied(fmt::format("'{}' is {}'s, but the scheduler is {}'s", path,
                            user_name(socket.st_uid), user_name(owner)));
}

namespace {

Result<Descriptor> connect_to_scheduler(const std::string& state, std::uint32_t& owner) {
  ATTUNE_ASSIGN(const Way way, find_scheduler(state));
  Connecting made = connect_to_path(way.socket);
  if (made.error == ECONNREFUSED || made.error == ENOENT) return nobody(state);
  if (made.error == EACCES || made.error == EPERM) return not_shared(state, way.uid);
  if (made.error != 0) {
    return Error{ErrorCode::Io,
                 fmt::format("cannot connect to '{}': {}", way.socket, std::strerror(made.error)),
                 {}};
  }
  const std::optional<Peer> peer = peer_of(made.socket.number());
  if (!peer || peer->uid != way.uid) {
    return denied(fmt::format("'{}' is served by {}, but the scheduler is {}'s", way.socket,
                              peer ? user_name(peer->uid) : "nobody knows whom",
                              user_name(way.uid)));
  }
  owner = way.uid;
  return std::move(made.socket);
}

}  // namespace

Result<Line> open_line(const std::string& state, double silent_seconds) {
  Line line;
  ATTUNE_ASSIGN(Descriptor socket, connect_to_scheduler(state, line.uid));
  if (::fcntl(socket.number(), F_SETFL, O_NONBLOCK) != 0) {
    return Error{ErrorCode::Io, "cannot use a connection without waiting", {}};
  }
  grpc::ChannelArguments arguments;
  // Messages are small and far apart: there is no bandwidth to find out about by pings.
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetMaxReceiveMessageSize(static_cast<int>(kLargestMessage));
  if (silent_seconds > 0) {
    const int milliseconds = static_cast<int>(silent_seconds * 1e3);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, milliseconds);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, milliseconds);
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // as many as it takes
  }
  line.channel = grpc::CreateCustomInsecureChannelFromFd("scheduler", socket.release(), arguments);
  return line;
}

bool is_served(const std::string& state) {
  std::uint32_t owner = 0;
  return connect_to_scheduler(state, owner).ok();
}

}  // namespace attune::wire

#include "fleet/wire/unix_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace attune::wire {
namespace {

// Addresses have room for 108 bytes; the folder of a longer path is named by a descriptor, which
// must stay open meanwhile.
struct Address {
  Descriptor folder;
  sockaddr_un name = {};
  int error = 0;
};

Address address_of(const std::string& path) {
  Address address;
  address.name.sun_family = AF_UNIX;
  std::string text = path;
  if (text.size() >= sizeof address.name.sun_path) {
    const std::filesystem::path whole(path);
    address.folder =
        Descriptor(::open(whole.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!address.folder.is_open()) address.error = errno;
    text = fmt::format("/proc/self/fd/{}/{}", address.folder.number(), whole.filename().string());
    if (text.size() >= sizeof address.name.sun_path) address.error = ENAMETOOLONG;
  }
  if (address.error == 0) std::memcpy(address.name.sun_path, text.data(), text.size());
  return address;
}

const sockaddr* generic(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address.name);
}

Error cannot_listen(const std::string& path, int error) {
  return {ErrorCode::Io, fmt::format("cannot listen at '{}': {}", path, std::strerror(error)),
          "name another folder with --state DIR"};
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

std::optional<Peer> peer_of(int socket) {
  ucred who = {};
  socklen_t size = sizeof who;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return std::nullopt;
  return Peer{who.uid, who.pid};
}

std::optional<std::uint32_t> uid_of(int socket) {
  const std::optional<Peer> peer = peer_of(socket);
  if (!peer) return std::nullopt;
  return peer->uid;
}

Connecting connect_to_path(const std::string& path) {
  const Address address = address_of(path);
  if (address.error != 0) return {Descriptor(), address.error};
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return {Descriptor(), errno};
  const timeval longest{.tv_sec = 1, .tv_usec = 0};
  (void)::setsockopt(socket.number(), SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
  if (::connect(socket.number(), generic(address), sizeof address.name) != 0) {
    return {Descriptor(), errno};
  }
  return {std::move(socket), 0};
}

Result<Descriptor> listen_at_path(const std::string& path, mode_t mode,
                                  std::optional<gid_t> group) {
  const std::string part = path + ".new";  // nobody finds it before it is as it must be
  const Address address = address_of(part);
  if (address.error != 0) return cannot_listen(path, address.error);
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ::unlink(part.c_str());
  const bool listens =
      socket.is_open() && ::bind(socket.number(), generic(address), sizeof address.name) == 0 &&
      (!group || ::chown(part.c_str(), static_cast<uid_t>(-1), *group) == 0) &&
      ::chmod(part.c_str(), mode) == 0 && ::listen(socket.number(), SOMAXCONN) == 0 &&
      std::rename(part.c_str(), path.c_str()) == 0;
  if (listens) return socket;
  const int error = errno;
  ::unlink(part.c_str());
  return cannot_listen(path, error);
}

}  // namespace attune::wire

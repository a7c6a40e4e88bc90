#include "tuner/measure/device_runner/spawned.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/cage/cage.h"
#include "tuner/measure/device_runner/line.h"

extern char** environ;

namespace attune::device_runner {
namespace {

constexpr double kMomentMs = 1000;

Error system_error(std::string_view what, int number) {
  return Error{ErrorCode::Io, fmt::format("{}: {}", what, strerror(number)),
               "close programs that this machine has too many of"};
}

// The settings of a process to be started, given back with their owner.
class Settings {
 public:
  Settings() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes,
                               static_cast<short>(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK));
  }
  ~Settings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

}  // namespace

Result<Spawned> Spawned::start(const std::vector<std::string>& command) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return system_error("no line to a device's process", errno);
  }
  probe::Descriptor ours(ends[0]), lower(ends[1]);
  // Above the number that it gets there: a descriptor that is its own copy would be closed.
  const probe::Descriptor theirs(::fcntl(lower.number(), F_DUPFD_CLOEXEC, kLine + 1));
  if (!theirs.is_open()) return system_error("no line to a device's process", errno);
  Settings settings;
  ::posix_spawn_file_actions_addopen(&settings.actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&settings.actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&settings.actions, theirs.number(), kLine);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t pid = -1;
  const int failed =
      ::posix_spawn(&pid, words[0], &settings.actions, &settings.attributes, words.data(), environ);
  if (failed != 0) return system_error("a device's process does not start", failed);
  return Spawned(pid, std::move(ours));
}

bool Spawned::is_alive() const {
  if (pid_ < 0) return false;
  siginfo_t ended = {};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == 0;
}

std::optional<int> Spawned::end() {
  if (pid_ < 0) return std::nullopt;
  return end_group(std::exchange(pid_, -1));
}

std::optional<int> Spawned::await_end() {
  if (pid_ < 0) return std::nullopt;
  if (const auto status = await_exit(pid_, kMomentMs)) {
    pid_ = -1;
    return status;
  }
  return end();
}

}  // namespace attune::device_runner

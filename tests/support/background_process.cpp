#include "tests/support/background_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/check.h"

namespace attune::test {
namespace {

// Appends what is there, at least a byte; false at the end.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 4096> piece;
  ssize_t size = 0;
  do {
    size = ::read(descriptor, piece.data(), piece.size());
  } while (size < 0 && errno == EINTR);
  if (size <= 0) return false;
  text.append(piece.data(), static_cast<std::size_t>(size));
  return true;
}

}  // namespace

BackgroundProcess::BackgroundProcess(const std::vector<std::string>& command,
                                     const std::map<std::string, std::string>& environment) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = environment_with(environment);
  std::string name = "/tmp/attune_process_XXXXXX";
  output_ = ::mkstemp(name.data());
  CHECK(output_ >= 0, "cannot make a temporary file");
  ::unlink(name.c_str());
  int pipe[2];
  CHECK(::pipe2(pipe, O_CLOEXEC) == 0, "cannot make a pipe");
  errors_ = pipe[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output_, 1);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], 2);
  const int failed = posix_spawnp(&child_, arguments[0].c_str(), &actions, nullptr,
                                  pointers_to(arguments).data(), pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  CHECK(failed == 0, "cannot start " + arguments[0]);
}

BackgroundProcess::~BackgroundProcess() {
  if (child_ > 0) {
    send_signal(SIGKILL);
    (void)finish();
  }
  ::close(output_);
  ::close(errors_);
}

bool BackgroundProcess::wait_for_error_text(std::string_view text) {
  while (seen_.find(text) == std::string::npos) {
    if (!read_some(errors_, seen_)) return false;
  }
  return true;
}

void BackgroundProcess::send_signal(int number) const { ::kill(child_, number); }

ProcessResult BackgroundProcess::finish() {
  while (read_some(errors_, seen_)) {
  }
  int state = 0;
  while (::waitpid(child_, &state, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  ProcessResult result;
  result.status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  result.errors = seen_;
  ::lseek(output_, 0, SEEK_SET);
  while (read_some(output_, result.output)) {
  }
  return result;
}

}  // namespace attune::test

#include "tests/support/isolated.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/check.h"

namespace attune::test {
namespace {

[[noreturn]] void run_child(const std::function<void(const Note&)>& piece, int seconds, int pipe) {
  std::signal(SIGALRM, SIG_DFL);
  alarm(static_cast<unsigned>(seconds));
  piece([pipe](std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = write(pipe, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) _exit(3);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  });
  _exit(0);
}

std::string read_all(int pipe) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t count = read(pipe, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

std::string describe_end(int status, int seconds) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    if (number == SIGALRM) return fmt::format("still running after {} s", seconds);
    return fmt::format("signal {} ({})", number, strsignal(number));
  }
  if (WEXITSTATUS(status) != 0) return fmt::format("exit status {}", WEXITSTATUS(status));
  return {};
}

}  // namespace

IsolatedResult run_isolated(const std::function<void(const Note&)>& piece, int seconds) {
  int ends[2];
  CHECK(pipe(ends) == 0, "a pipe to the child");
  std::fflush(nullptr);
  const pid_t child = fork();
  CHECK(child >= 0, "a child process");
  if (child == 0) {
    close(ends[0]);
    run_child(piece, seconds, ends[1]);
  }
  close(ends[1]);
  IsolatedResult result;
  result.notes = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.failure = describe_end(status, seconds);
  return result;
}

}  // namespace attune::test

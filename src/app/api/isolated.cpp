#include "app/api/isolated.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace attune::api {
namespace {

constexpr char kValue = 'v';
constexpr char kError = 'e';

Error cannot_start(int failure) {
  return {ErrorCode::Io, fmt::format("cannot start a child process: {}", strerror(failure)),
          "free some memory or processes"};
}

void write_all(int descriptor, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;  // the parent has gone
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

Bytes read_all(int descriptor) {
  Bytes bytes;
  std::array<char, 65536> piece;
  for (;;) {
    const ssize_t size = ::read(descriptor, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return bytes;
    bytes.insert(bytes.end(), piece.data(), piece.data() + size);
  }
}

// An error as bytes: its code, then message and hint, each ended by a zero byte.
void write_answer(int descriptor, const Result<Bytes>& result) {
  if (result.ok()) {
    write_all(descriptor, {&kValue, 1});
    write_all(descriptor, *result);
    return;
  }
  const Error& error = result.error();
  std::string text(1, kError);
  text += static_cast<char>('0' + static_cast<int>(error.code));
  write_all(descriptor, text + error.message + '\0' + error.hint + '\0');
}

Result<Bytes> read_answer(const Bytes& bytes) {
  if (bytes[0] == kValue) return Bytes(bytes.begin() + 1, bytes.end());
  const char* message = bytes.data() + 2;
  const char* hint = message + strlen(message) + 1;
  return Error{static_cast<ErrorCode>(bytes[1] - '0'), message, hint};
}

}  // namespace

Result<Bytes> run_isolated(const std::string& what, const std::function<Result<Bytes>()>& work) {
  int pipe[2];
  if (::pipe(pipe) != 0) return cannot_start(errno);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    const int failure = errno;
    ::close(pipe[0]);
    ::close(pipe[1]);
    return cannot_start(failure);
  }
  if (child == 0) {
    ::close(pipe[0]);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    write_answer(pipe[1], work());
    ::_exit(0);
  }
  ::close(pipe[1]);
  const Bytes bytes = read_all(pipe[0]);
  ::close(pipe[0]);
  int state = 0;
  while (::waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0 && !bytes.empty()) {
    return read_answer(bytes);
  }
  const std::string how =
      WIFSIGNALED(state)
          ? fmt::format("{} (signal {})", ::strsignal(WTERMSIG(state)), WTERMSIG(state))
          : fmt::format("exit status {}", WEXITSTATUS(state));
  return Error{ErrorCode::Io, fmt::format("{} crashed: {}", what, how),
               "try another schedule, e.g. with --default"};
}

}  // namespace attune::api

#include "base/child.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace attune {
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

// The last line that a child wrote to standard error.
std::string last_words(int descriptor) {
  constexpr off_t kMost = 2000;
  const off_t size = ::lseek(descriptor, 0, SEEK_END);
  if (size <= 0) return {};
  std::string text(static_cast<std::size_t>(std::min(size, kMost)), '\0');
  const ssize_t got =
      ::pread(descriptor, text.data(), text.size(), std::max<off_t>(size - kMost, 0));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (text.ends_with('\n')) text.pop_back();
  const std::size_t newline = text.rfind('\n');
  return newline == std::string::npos ? text : text.substr(newline + 1);
}

[[noreturn]] void live(pid_t parent, int answer, int errors,
                       const std::function<Result<Bytes>()>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  if (errors >= 0) ::dup2(errors, STDERR_FILENO);
  write_answer(answer, work());
  ::_exit(0);
}

}  // namespace

Result<Child> start_child(const std::function<Result<Bytes>()>& work, bool keep_errors) {
  int pipe[2];
  if (::pipe(pipe) != 0) return cannot_start(errno);
  Child child;
  if (keep_errors) child.errors = ::memfd_create("errors", MFD_CLOEXEC);
  const pid_t parent = ::getpid();
  child.pid = ::fork();
  if (child.pid == 0) {
    ::close(pipe[0]);
    live(parent, pipe[1], child.errors, work);
  }
  const int failure = errno;
  ::close(pipe[1]);
  if (child.pid < 0) {
    ::close(pipe[0]);
    if (child.errors >= 0) ::close(child.errors);
    return cannot_start(failure);
  }
  child.answer = pipe[0];
  return child;
}

bool read_some(Child& child) {
  std::array<char, 65536> piece;
  ssize_t size = 0;
  do size = ::read(child.answer, piece.data(), piece.size());
  while (size < 0 && errno == EINTR);
  if (size <= 0) return false;
  child.read.insert(child.read.end(), piece.data(), piece.data() + size);
  return true;
}

Result<Bytes> finish(Child& child, const std::string& what) {
  int state = 0;
  while (::waitpid(child.pid, &state, 0) < 0 && errno == EINTR) {
  }
  std::string words;
  if (child.errors >= 0) {
    words = last_words(child.errors);
    ::close(child.errors);
  }
  ::close(child.answer);
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0 && !child.read.empty()) {
    return read_answer(child.read);
  }
  const std::string how =
      WIFSIGNALED(state)
          ? fmt::format("{} (signal {})", ::strsignal(WTERMSIG(state)), WTERMSIG(state))
          : fmt::format("exit status {}", WEXITSTATUS(state));
  return Error{ErrorCode::Io,
               fmt::format("{} crashed: {}{}{}", what, how, words.empty() ? "" : ": ", words),
               "try another schedule, e.g. with --default"};
}

}  // namespace attune

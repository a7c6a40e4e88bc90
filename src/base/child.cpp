#include "base/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <new>
#include <optional>
#include <string_view>

#include "base/cage/cage.h"
#include "base/cage/system_calls.h"

namespace attune {

struct CallNote {
  std::atomic<int> call = -1;
};

namespace {

constexpr char kValue = 'v';
constexpr char kError = 'e';
constexpr const char* kHint = "try another schedule, e.g. with --default";
constexpr int kTrappedStatus = 98;

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

// An error is believed in the form that write_answer gives it.
Result<Bytes> read_answer(const Bytes& bytes, const std::string& what) {
  if (bytes[0] == kValue) return Bytes(bytes.begin() + 1, bytes.end());
  const auto message = bytes.begin() + std::min<std::ptrdiff_t>(2, std::ssize(bytes));
  const auto message_end = std::find(message, bytes.end(), '\0');
  const auto hint = message_end == bytes.end() ? message_end : message_end + 1;
  const auto hint_end = std::find(hint, bytes.end(), '\0');
  const int code = bytes.size() > 1 ? bytes[1] - '0' : -1;
  if (bytes[0] != kError || hint_end == bytes.end() || code < 0 ||
      code > static_cast<int>(ErrorCode::Exhausted)) {
    return Error{ErrorCode::Io, what + " gave an answer that makes no sense", kHint};
  }
  return Error{static_cast<ErrorCode>(code), std::string(message, message_end),
               std::string(hint, hint_end)};
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

// A signal handler has no other way to reach its data than through the process.
CallNote* g_note = nullptr;

void note_call(int, siginfo_t* info, void*) {
  g_note->call = info->si_syscall;
  ::_exit(kTrappedStatus);
}

// Leaves behind what a fork inherits, but for the way back.
void shed_inheritance(int answer, int errors) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0) {
    ::dup2(null, STDIN_FILENO);
    ::dup2(null, STDOUT_FILENO);
  }
  ::dup2(errors >= 0 ? errors : null, STDERR_FILENO);
  const auto close_all = [](unsigned first, unsigned last) {
    if (first <= last) ::syscall(SYS_close_range, first, last, 0);
  };
  close_all(3, static_cast<unsigned>(answer) - 1);
  close_all(static_cast<unsigned>(answer) + 1, ~0u);
}

[[noreturn]] void live(pid_t parent, const Child& self, int answer, std::int64_t memory_bytes,
                       const std::function<Result<Bytes>()>& work) {
  begin_own_group(parent);
  g_note = self.note;
  struct sigaction action = {};
  action.sa_sigaction = note_call;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSYS, &action, nullptr);
  if (self.group) (void)self.group->enter().ok();  // else the limits below are all
  shed_inheritance(answer, self.errors);
  limit_memory(memory_bytes);
  write_answer(answer, work());
  ::_exit(0);
}

// What is left of a child that was waited for, or never came to be.
void forget(Child& child) {
  if (child.answer >= 0) ::close(child.answer);
  if (child.errors >= 0) ::close(child.errors);
  if (child.note != nullptr) ::munmap(child.note, sizeof(CallNote));
  child = {};
}

std::string describe_end(const Child& child, int state) {
  const int call = child.note == nullptr ? -1 : child.note->call.load();
  if (WIFEXITED(state) && WEXITSTATUS(state) == kTrappedStatus && call >= 0) {
    return fmt::format("called {}, which kernels may not", call_name(call));
  }
  if (child.group && child.group->ended_for_memory() > 0) return "took more memory than it may";
  const std::string words = child.errors >= 0 ? last_words(child.errors) : std::string();
  return (WIFSIGNALED(state)
              ? fmt::format("{} (signal {})", ::strsignal(WTERMSIG(state)), WTERMSIG(state))
              : fmt::format("exit status {}", WEXITSTATUS(state))) +
         (words.empty() ? "" : ": " + words);
}

}  // namespace

Result<Child> start_child(const std::function<Result<Bytes>()>& work, std::int64_t memory_bytes,
                          std::unique_ptr<ControlGroup> group) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return cannot_start(errno);
  Child child;
  child.answer = pipe[0];
  child.group = std::move(group);
  child.errors = ::memfd_create("errors", MFD_CLOEXEC);
  void* const note =
      ::mmap(nullptr, sizeof(CallNote), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (note != MAP_FAILED) child.note = new (note) CallNote;
  const pid_t parent = ::getpid();
  child.pid = child.note == nullptr ? -1 : ::fork();
  if (child.pid == 0) {
    ::close(pipe[0]);
    live(parent, child, pipe[1], memory_bytes, work);
  }
  const int failure = errno;
  ::close(pipe[1]);
  if (child.pid < 0) {
    forget(child);
    return cannot_start(failure);
  }
  return child;
}

bool is_over(const Child& child) {
  siginfo_t ended = {};
  const auto number = static_cast<id_t>(child.pid);
  if (::waitid(P_PID, number, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) return errno != EINTR;
  if (ended.si_pid != child.pid) return false;
  pollfd answer{child.answer, POLLIN, 0};
  return ::poll(&answer, 1, 0) == 0;
}

bool read_some(Child& child) {
  constexpr int kLookMs = 200;
  pollfd answer{child.answer, POLLIN, 0};
  if (::poll(&answer, 1, kLookMs) <= 0) return !is_over(child);
  std::array<char, 65536> piece;
  ssize_t size = 0;
  do size = ::read(child.answer, piece.data(), piece.size());
  while (size < 0 && errno == EINTR);
  if (size <= 0) return false;
  child.read.insert(child.read.end(), piece.data(), piece.data() + size);
  return true;
}

Result<Bytes> finish(Child& child, const std::string& what) {
  constexpr double kPatienceMs = 5'000;  // it has said all, and needs to do nothing any more
  const std::optional<int> ended = await_exit(child.pid, kPatienceMs);
  if (!ended) (void)end_group(child.pid);
  const int state = ended.value_or(SIGKILL);
  const std::string how = describe_end(child, state);
  const Bytes answer = std::move(child.read);
  forget(child);
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0 && !answer.empty()) {
    return read_answer(answer, what);
  }
  return Error{ErrorCode::Io, fmt::format("{} crashed: {}", what, how), kHint};
}

void abandon(Child& child) {
  if (child.pid > 0) (void)end_group(child.pid);
  forget(child);
}

}  // namespace attune

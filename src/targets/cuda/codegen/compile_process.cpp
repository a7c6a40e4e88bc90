#include "targets/cuda/codegen/compile_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <mutex>
#include <optional>
#include <vector>

#include "base/answer_reader.h"
#include "base/clock.h"
#include "base/isolated.h"

namespace attune::cuda {
namespace {

constexpr double kMostSeconds = 120;  // for one kernel
constexpr std::size_t kMostBytes = std::size_t{1} << 28;
constexpr int kLine = 3;  // where a process finds its end of the line

bool write_all(int line, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::send(line, bytes, count, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return true;
}

// False at the end of the line, or when nothing came until then; negative: there is no such time.
bool read_all(int line, char* bytes, std::size_t count, std::int64_t deadline_ns) {
  const SteadyClock clock;
  while (count > 0) {
    const std::int64_t left = deadline_ns - clock.now_ns();
    if (deadline_ns >= 0 && left <= 0) return false;
    pollfd ready{line, POLLIN, 0};
    const int timeout = deadline_ns < 0 ? -1 : static_cast<int>(left / 1'000'000 + 1);
    const int found = ::poll(&ready, 1, timeout);
    if (found < 0 && errno != EINTR) return false;
    if (found <= 0) continue;
    const ssize_t taken = ::recv(line, bytes, count, 0);
    if (taken < 0 && errno == EINTR) continue;
    if (taken <= 0) return false;
    bytes += taken;
    count -= static_cast<std::size_t>(taken);
  }
  return true;
}

// Messages have their length in front.
bool write_message(int line, const Bytes& message) {
  const std::uint64_t length = message.size();
  char head[sizeof length];
  std::memcpy(head, &length, sizeof length);
  return write_all(line, head, sizeof head) && write_all(line, message.data(), message.size());
}

std::optional<Bytes> read_message(int line, std::int64_t deadline_ns) {
  std::uint64_t length = 0;
  char head[sizeof length];
  if (!read_all(line, head, sizeof head, deadline_ns)) return std::nullopt;
  std::memcpy(&length, head, sizeof length);
  if (length > kMostBytes) return std::nullopt;
  Bytes message(length);
  if (!read_all(line, message.data(), message.size(), deadline_ns)) return std::nullopt;
  return message;
}

void append_text(Bytes& bytes, std::string_view text) {
  append_value(bytes, text.size());
  bytes.insert(bytes.end(), text.begin(), text.end());
}

Bytes pack(const Result<Compiled>& compiled) {
  Bytes bytes;
  append_value(bytes, compiled.ok());
  if (!compiled.ok()) {
    append_value(bytes, compiled.error().code);
    append_text(bytes, compiled.error().message);
    append_text(bytes, compiled.error().hint);
    return bytes;
  }
  append_text(bytes,
              {reinterpret_cast<const char*>(compiled->cubin.data()), compiled->cubin.size()});
  append_text(bytes, compiled->ptx);
  append_text(bytes, compiled->log);
  return bytes;
}

Result<Compiled> unpack(const Bytes& bytes) {
  AnswerReader reader(bytes);
  if (!reader.value<bool>()) {
    Error error;
    error.code = reader.value<ErrorCode>();
    error.message = reader.text();
    error.hint = reader.text();
    return error;
  }
  Compiled compiled;
  const std::string cubin = reader.text();
  const auto* first = reinterpret_cast<const std::byte*>(cubin.data());
  compiled.cubin.assign(first, first + cubin.size());
  compiled.ptx = reader.text();
  compiled.log = reader.text();
  ATTUNE_RETURN_IF_ERROR(reader.status());
  return compiled;
}

// In the process of its own, until the other end is gone.
[[noreturn]] void serve(const Nvrtc& nvrtc) {
  ::signal(SIGINT, SIG_IGN);  // of a terminal: whoever asked decides
  while (const std::optional<Bytes> request = read_message(kLine, -1)) {
    AnswerReader reader(*request);
    const std::string text = reader.text(), architecture = reader.text();
    if (!write_message(kLine, pack(nvrtc.compile(text, architecture)))) break;
  }
  ::_exit(0);
}

struct Process {
  pid_t pid = -1;
  int line = -1;
};

Result<Process> start(const Nvrtc& nvrtc) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{ErrorCode::Exhausted, "no line to a compiler of CUDA code could be made", ""};
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], kLine);
    ::close_range(kLine + 1, ~0U, 0);
    serve(nvrtc);
  }
  ::close(ends[1]);
  if (pid > 0) return Process{pid, ends[0]};
  ::close(ends[0]);
  return Error{ErrorCode::Exhausted, "no process for a compiler of CUDA code could be started", ""};
}

void end(const Process& process) {
  ::kill(process.pid, SIGKILL);
  ::close(process.line);
  while (::waitpid(process.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// Those that have nothing to do.
class Idle {
 public:
  std::optional<Process> take() {
    const std::lock_guard lock(mutex_);
    if (processes_.empty() || owner_ != ::getpid()) return std::nullopt;
    const Process process = processes_.back();
    processes_.pop_back();
    return process;
  }
  void give(const Process& process) {
    const std::lock_guard lock(mutex_);
    // A fork of the process that started them has no claim to them.
    if (owner_ != ::getpid()) processes_.clear();
    owner_ = ::getpid();
    processes_.push_back(process);
  }

 private:
  std::mutex mutex_;
  pid_t owner_ = -1;
  std::vector<Process> processes_;
};

}  // namespace

Result<Compiled> compile_apart(const Nvrtc& nvrtc, const std::string& text,
                               const std::string& architecture) {
#if defined(__SANITIZE_THREAD__)
  return nvrtc.compile(text, architecture);  // it does not bear forks of processes with threads
#else
  static Idle idle;
  std::optional<Process> process = idle.take();
  if (!process) {
    ATTUNE_ASSIGN(process, start(nvrtc));
  }
  Bytes request;
  append_text(request, text);
  append_text(request, architecture);
  const SteadyClock clock;
  const auto deadline = clock.now_ns() + static_cast<std::int64_t>(kMostSeconds * 1e9);
  std::optional<Bytes> answer;
  if (write_message(process->line, request)) answer = read_message(process->line, deadline);
  if (!answer) {
    end(*process);
    return unsupported(clock.now_ns() >= deadline
                           ? fmt::format("NVRTC took more than {} s for a kernel", kMostSeconds)
                           : "NVRTC crashed compiling a kernel",
                       "try another schedule, e.g. with --default");
  }
  idle.give(*process);
  return unpack(*answer);
#endif
}

}  // namespace attune::cuda

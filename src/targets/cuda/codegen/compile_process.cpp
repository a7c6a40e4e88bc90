#include "targets/cuda/codegen/compile_process.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <mutex>
#include <optional>
#include <vector>

#include "base/answer_reader.h"
#include "base/cage/cage.h"
#include "base/clock.h"
#include "base/message_line.h"

namespace attune::cuda {
namespace {

constexpr double kMostSeconds = 120;  // for one kernel
constexpr int kLine = 3;              // where a process finds its end of the line

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

// The cores of the thread that asks go along: a process is a fork of some thread, of whose cores
// it would make use for ever.
Bytes request_for(const std::string& text, const std::string& architecture) {
  Bytes request;
  append_text(request, text);
  append_text(request, architecture);
  cpu_set_t cores;
  CPU_ZERO(&cores);
  (void)::sched_getaffinity(0, sizeof cores, &cores);
  append_value(request, cores);
  return request;
}

Result<Compiled> perform(const Nvrtc& nvrtc, const Bytes& request) {
  AnswerReader reader(request);
  const std::string text = reader.text(), architecture = reader.text();
  cpu_set_t cores;
  const std::span<const char> raw = reader.take(sizeof cores);
  ATTUNE_RETURN_IF_ERROR(reader.status());
  std::memcpy(&cores, raw.data(), sizeof cores);
  if (CPU_COUNT(&cores) > 0) (void)::sched_setaffinity(0, sizeof cores, &cores);
  return nvrtc.compile(text, architecture);
}

// In the process of its own, until the other end is gone.
[[noreturn]] void serve(const Nvrtc& nvrtc) {
  ::signal(SIGINT, SIG_IGN);  // of a terminal: whoever asked decides
  constexpr int kBehind = 5;  // who feeds a card meanwhile, on the same cores
  (void)!::nice(kBehind);
  LineMessage request;
  while (receive_message(kLine, request, kNoDeadline) == Heard::Message) {
    if (!send_message(kLine, {0, pack(perform(nvrtc, request.bytes))}, kNoDeadline)) break;
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
  constexpr double kPatienceMs = 10'000;  // one that cannot be ended ends with this process
  (void)await_exit(process.pid, kPatienceMs);
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
  const SteadyClock clock;
  const auto deadline = clock.now_ns() + static_cast<std::int64_t>(kMostSeconds * 1e9);
  LineMessage answer;
  const bool asked = send_message(process->line, {0, request_for(text, architecture)}, deadline);
  if (!asked || receive_message(process->line, answer, deadline) != Heard::Message) {
    end(*process);
    return unsupported(clock.now_ns() >= deadline
                           ? fmt::format("NVRTC took more than {} s for a kernel", kMostSeconds)
                           : "NVRTC crashed compiling a kernel",
                       "try another schedule, e.g. with --default");
  }
  idle.give(*process);
  return unpack(answer.bytes);
#endif
}

}  // namespace attune::cuda

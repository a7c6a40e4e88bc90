#include "app/calibration/looping_child.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/clock.h"
#include "runtime/execution/affinity.h"

namespace attune::calibration {

struct LoopingChild::Notes {
  struct Repetition {
    std::int64_t begin_ns = 0, end_ns = 0;
  };
  std::atomic<bool> ready = false;
  std::atomic<std::uint64_t> count = 0;
  std::array<Repetition, 8192> ring = {};  // the newest

  void add(std::int64_t begin_ns, std::int64_t end_ns) {
    const std::uint64_t at = count.load(std::memory_order_relaxed);
    ring[at % ring.size()] = {begin_ns, end_ns};
    count.store(at + 1, std::memory_order_release);
  }
};

namespace {

constexpr double kStopSeconds = 10;

// Until it has stopped, or ended, for a while at most: one that the system holds does neither.
void wait_until_stopped(pid_t pid) {
  const SteadyClock clock;
  const std::int64_t begin_ns = clock.now_ns();
  while (::waitpid(pid, nullptr, WUNTRACED | WNOHANG) == 0 &&
         seconds_between(begin_ns, clock.now_ns()) < kStopSeconds) {
    ::usleep(200);
  }
}

}  // namespace

Result<LoopingChild> LoopingChild::start(const std::string& what, const std::vector<int>& cores,
                                         const Prepare& prepare, double patience_seconds) {
  void* const memory =
      ::mmap(nullptr, sizeof(Notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Error{ErrorCode::Exhausted,
                 fmt::format("no memory is left to share with a child: {}", std::strerror(errno)),
                 {}};
  }
  Notes* const notes = new (memory) Notes;
  const auto live = [&]() -> Result<Bytes> {
    ATTUNE_RETURN_IF_ERROR(runtime::pin_current_thread(cores));
    ATTUNE_ASSIGN(const std::function<Status()> repeat, prepare());
    ATTUNE_RETURN_IF_ERROR(repeat());
    const SteadyClock clock;
    notes->ready = true;
    while (true) {
      const std::int64_t begin = clock.now_ns();
      ATTUNE_RETURN_IF_ERROR(repeat());
      notes->add(begin, clock.now_ns());
    }
  };
  auto child = start_child(live);
  if (!child.ok()) {
    ::munmap(memory, sizeof(Notes));
    return child.error();
  }
  LoopingChild looping(std::move(*child), notes);
  const SteadyClock clock;
  const std::int64_t begin_ns = clock.now_ns();
  while (!notes->ready) {
    if (seconds_between(begin_ns, clock.now_ns()) > patience_seconds) {
      return Error{ErrorCode::Exhausted,
                   fmt::format("{} was not ready after {:g} seconds", what, patience_seconds),
                   "calibrate with a smaller workload"};
    }
    // An answer comes only when it failed.
    pollfd answer{looping.child_.answer, POLLIN, 0};
    if (::poll(&answer, 1, 5) <= 0) continue;
    while (read_some(looping.child_)) {
    }
    Child ended = std::exchange(looping.child_, {});
    const Result<Bytes> failure = finish(ended, what);
    return failure.ok() ? Error{ErrorCode::Io, what + " ended by itself", {}} : failure.error();
  }
  looping.halt();
  return looping;
}

LoopingChild::LoopingChild(LoopingChild&& other) noexcept
    : child_(std::exchange(other.child_, {})), notes_(std::exchange(other.notes_, nullptr)) {}

LoopingChild::~LoopingChild() {
  if (child_.pid > 0) abandon(child_);
  if (notes_ != nullptr) ::munmap(notes_, sizeof(Notes));
}

void LoopingChild::go() const { ::kill(child_.pid, SIGCONT); }

void LoopingChild::halt() const {
  ::kill(child_.pid, SIGSTOP);
  wait_until_stopped(child_.pid);
}

std::vector<double> LoopingChild::repetitions(std::int64_t begin_ns, std::int64_t end_ns) const {
  const std::uint64_t count = notes_->count.load(std::memory_order_acquire);
  const std::uint64_t kept = std::min<std::uint64_t>(count, notes_->ring.size());
  std::vector<double> seconds;
  for (std::uint64_t i = count - kept; i < count; ++i) {
    const Notes::Repetition& one = notes_->ring[i % notes_->ring.size()];
    if (one.begin_ns < begin_ns || one.end_ns > end_ns) continue;
    seconds.push_back(seconds_between(one.begin_ns, one.end_ns));
  }
  return seconds;
}

}  // namespace attune::calibration

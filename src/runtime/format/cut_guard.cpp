#include "runtime/format/cut_guard.h"

#include <signal.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

namespace attune::runtime {
namespace {

// A signal handler can only know what is global.
struct Range {
  std::atomic<bool> taken = false;
  std::atomic<std::uintptr_t> begin = 0;  // 0: nothing is watched
  std::atomic<std::uintptr_t> end = 0;
  std::atomic<bool> cut = false;
};
constinit std::array<Range, 512> ranges;
constinit struct sigaction handled_before = {};

// All of the range at once: who reads on, reads zeros, and what comes of it is thrown away.
bool replace_by_zeros(std::uintptr_t address) {
  for (Range& range : ranges) {
    const std::uintptr_t begin = range.begin.load(std::memory_order_acquire);
    const std::uintptr_t end = range.end.load(std::memory_order_relaxed);
    if (begin == 0 || address < begin || address >= end) continue;
    const bool replaced =
        ::mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
    if (replaced) range.cut.store(true, std::memory_order_release);
    return replaced;
  }
  return false;
}

void on_bus_error(int number, siginfo_t* info, void* context) {
  const int error = errno;
  const bool ours = replace_by_zeros(reinterpret_cast<std::uintptr_t>(info->si_addr));
  errno = error;
  if (ours) return;
  if ((handled_before.sa_flags & SA_SIGINFO) != 0) {
    handled_before.sa_sigaction(number, info, context);
  } else if (handled_before.sa_handler != SIG_DFL && handled_before.sa_handler != SIG_IGN) {
    handled_before.sa_handler(number);
  } else {
    // What caused it happens again, and ends the process as it would have.
    ::sigaction(number, &handled_before, nullptr);
  }
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &handled_before);
  });
}

}  // namespace

bool CutGuard::watch(void* begin, std::size_t bytes) {
  install_handler();
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].taken.exchange(true, std::memory_order_acq_rel)) continue;
    const auto start = reinterpret_cast<std::uintptr_t>(begin);
    ranges[i].cut.store(false, std::memory_order_relaxed);
    ranges[i].end.store(start + bytes, std::memory_order_relaxed);
    ranges[i].begin.store(start, std::memory_order_release);
    slot_ = static_cast<int>(i);
    return true;
  }
  return false;
}

bool CutGuard::was_cut() const {
  return is_watching() &&
         ranges[static_cast<std::size_t>(slot_)].cut.load(std::memory_order_acquire);
}

CutGuard::CutGuard(CutGuard&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

CutGuard& CutGuard::operator=(CutGuard&& other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

CutGuard::~CutGuard() {
  if (!is_watching()) return;
  Range& range = ranges[static_cast<std::size_t>(slot_)];
  range.begin.store(0, std::memory_order_release);
  range.taken.store(false, std::memory_order_release);
}

}  // namespace attune::runtime

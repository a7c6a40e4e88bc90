#include "tuner/measure/probe/memory_limit.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include "base/cage/cage.h"
#include "tuner/measure/probe/buffer_store.h"

namespace attune::probe {
namespace {

// By the one call that the cage lets through.
void set_soft_limit(rlim_t bytes) {
  rlimit limit = {};
  if (prlimit(0, RLIMIT_AS, nullptr, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_max, bytes);
  prlimit(0, RLIMIT_AS, &limit, nullptr);
}

}  // namespace

WorkerNeeds::WorkerNeeds(const Exchange& exchange)
    : memory_limit_bytes(exchange.header().options.memory_limit_bytes) {
  std::uint64_t largest = 0;
  std::uint64_t all = 0;
  int most_threads = 1;
  for (const AnswerPlace& place : exchange.places()) {
    threads.insert(place.threads);
    most_threads = std::max(most_threads, place.threads);
    largest = std::max(largest, place.buffer_bytes);
    all += place.buffer_bytes;
  }
  // In powers of two, so that batches that differ a little find the same worker. Besides buffers:
  // code, the sentinel's memory, arenas of threads.
  constexpr std::uint64_t kLeast = std::uint64_t{256} << 20;
  constexpr std::uint64_t kPerThread = std::uint64_t{160} << 20;
  const std::uint64_t buffers = exchange.header().rounds > 0 ? all : largest;
  mapped_bytes = std::bit_ceil(std::max(buffers, kLeast)) +
                 kPerThread * static_cast<std::uint64_t>(most_threads);
}

bool WorkerNeeds::cover(const WorkerNeeds& others) const {
  return std::includes(threads.begin(), threads.end(), others.threads.begin(),
                       others.threads.end()) &&
         mapped_bytes >= others.mapped_bytes && memory_limit_bytes == others.memory_limit_bytes;
}

ControlGroup::Limits WorkerNeeds::group_limits() const {
  constexpr std::int64_t kOfTheServer = std::int64_t{256} << 20;
  constexpr std::int64_t kFewProcesses = 64;  // besides the threads of pools
  const std::int64_t all_threads = std::accumulate(threads.begin(), threads.end(), std::int64_t{0});
  return {.memory_bytes = static_cast<std::int64_t>(mapped_bytes) + BufferStore::kKeepBytes +
                          memory_limit_bytes + kOfTheServer,
          .processes = all_threads + kFewProcesses};
}

MemoryLimit::MemoryLimit() : statm_(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {}

void MemoryLimit::allow_growth(std::int64_t bytes) const {
  if (!kCanLimitMemory || !statm_.is_open()) return;
  if (const std::optional<std::int64_t> used = address_space_bytes(statm_.number())) {
    set_soft_limit(static_cast<rlim_t>(*used) + static_cast<rlim_t>(bytes));
  }
}

void MemoryLimit::lift() const {
  if (kCanLimitMemory) set_soft_limit(RLIM_INFINITY);
}

}  // namespace attune::probe

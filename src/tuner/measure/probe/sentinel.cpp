#include "tuner/measure/probe/sentinel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune::probe {
namespace {

constexpr std::int64_t kRounds = 20'000;
// Larger than a private cache, so that the shared levels are seen too.
constexpr std::size_t kRegionBytes = std::size_t{4} << 20;
constexpr int kPasses = 3;

struct Work {
  const FmaLoop* loop;
  const std::byte* memory;
};

void compute_piece(void* closure, std::int64_t, std::int64_t, std::int32_t) {
  const volatile float sink = static_cast<const Work*>(closure)->loop->run(kRounds);
  static_cast<void>(sink);
}

void memory_piece(void* closure, std::int64_t begin, std::int64_t, std::int32_t) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(
      static_cast<const Work*>(closure)->memory + static_cast<std::size_t>(begin) * kRegionBytes);
  std::uint64_t sums[8] = {};
  for (std::size_t i = 0; i < kRegionBytes / sizeof(std::uint64_t); i += 8) {
    for (std::size_t j = 0; j < 8; ++j) sums[j] += words[i + j];
  }
  volatile std::uint64_t sink = 0;
  for (std::uint64_t sum : sums) sink = sink + sum;
}

double fastest_us(const Clock& clock, runtime::ThreadPool& pool, AttuneTask task, Work& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int pass = 0; pass < kPasses; ++pass) {
    const std::int64_t start = clock.now_ns();
    pool.parallel_for(pool.workers(), task, &work);
    best = std::min(best, static_cast<double>(clock.now_ns() - start) * 1e-3);
  }
  return best;
}

double relative_change(double before, double after) {
  const double smaller = std::min(before, after);
  return smaller > 0.0 ? std::abs(after - before) / smaller : 0.0;
}

}  // namespace

Sentinel::Sentinel() : loop_(fma_loops().front()) {}

Result<SentinelReading> Sentinel::read(const Clock& clock, runtime::ThreadPool& pool) {
  const std::size_t bytes = kRegionBytes * static_cast<std::size_t>(pool.workers());
  if (memory_.bytes() < bytes) {
    ATTUNE_ASSIGN(memory_, runtime::Memory::allocate(bytes));
    // Written once, so that every page is its own and not the shared page of zeros.
    std::fill_n(static_cast<std::byte*>(memory_.data()), bytes, std::byte{1});
  }
  Work work{&loop_, static_cast<const std::byte*>(memory_.data())};
  SentinelReading reading;
  reading.compute_us = fastest_us(clock, pool, compute_piece, work);
  reading.memory_us = fastest_us(clock, pool, memory_piece, work);
  return reading;
}

double drift_between(const SentinelReading& before, const SentinelReading& after) {
  return std::max(relative_change(before.compute_us, after.compute_us),
                  relative_change(before.memory_us, after.memory_us));
}

double DriftLimit::limit() const {
  constexpr double kLeast = 0.03;
  if (recent_.empty()) return kLeast;
  std::vector<double> sorted = recent_;
  std::sort(sorted.begin(), sorted.end());
  return std::max(kLeast, 2.0 * sorted[sorted.size() / 2]);
}

void DriftLimit::learn(double drift) {
  constexpr std::size_t kWindow = 16;
  recent_.push_back(drift);
  if (recent_.size() > kWindow) recent_.erase(recent_.begin());
}

}  // namespace attune::probe

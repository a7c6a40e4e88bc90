// Measures the figures of Peaks: short passes on all workers of a pool, for a given time; the best
// pass counts, since everything that disturbs a pass only slows it down.
#include <algorithm>
#include <thread>

#include "runtime/execution/affinity.h"
#include "runtime/execution/thread_pool.h"
#include "runtime/execution/usable_cores.h"
#include "runtime/memory/memory.h"
#include "tuner/measure/probe/machine.h"
#include "tuner/measure/probe/speed/fma_loop.h"
#include "tuner/measure/probe/speed/rates.h"

namespace attune::probe {
namespace {

constexpr std::int64_t kFmaRounds = 200'000;

struct Triad {
  double* a;
  const double* b;
  const double* c;
};

[[gnu::always_inline]] inline void triad_range(const Triad& arrays, std::int64_t begin,
                                               std::int64_t end) {
  double* __restrict a = arrays.a;
  const double* __restrict b = arrays.b;
  const double* __restrict c = arrays.c;
  for (std::int64_t i = begin; i < end; ++i) a[i] = b[i] + 3.0 * c[i];
}

void triad_generic(void* closure, std::int64_t begin, std::int64_t end, std::int32_t) {
  triad_range(*static_cast<const Triad*>(closure), begin, end);
}

#if defined(__x86_64__)
[[gnu::target("avx2"), gnu::optimize("O3")]] void triad_avx2(void* closure, std::int64_t begin,
                                                             std::int64_t end, std::int32_t) {
  triad_range(*static_cast<const Triad*>(closure), begin, end);
}
#endif

AttuneTask triad_task() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return triad_avx2;
#endif
  return triad_generic;
}

double triad_rate(runtime::ThreadPool& pool, const runtime::Memory& memory, double seconds) {
  auto* base = static_cast<double*>(memory.data());
  const auto elements = static_cast<std::int64_t>(memory.bytes() / (3 * sizeof(double)));
  Triad arrays{base, base + elements, base + 2 * elements};
  const double bytes = 3.0 * sizeof(double) * static_cast<double>(elements);
  return best_rate(seconds, bytes, [&] { pool.parallel_for(elements, triad_task(), &arrays); });
}

// The figures for one set of cores, the calling thread being pinned to the first of them.
void measure_on(const std::vector<int>& cores, const runtime::Memory& memory, double seconds,
                double& gflops, double& gbps) {
  runtime::ThreadPool pool({.workers = static_cast<int>(cores.size()), .cores = cores});
  const std::vector<FmaLoop> loops = fma_loops();
  // The widest vectors are not always the fastest: some processors lower their clock for them.
  const std::size_t tried = std::min<std::size_t>(loops.size(), 2);
  for (std::size_t i = 0; i < tried; ++i) {
    const double rate = fma_rate(pool, loops[i], kFmaRounds, seconds / static_cast<double>(tried));
    gflops = std::max(gflops, rate * 1e-9);
  }
  gbps = triad_rate(pool, memory, seconds) * 1e-9;
}

}  // namespace

Result<Peaks> measure_peaks(const PeakOptions& options) {
  const std::vector<int> cores = options.cores.empty() ? runtime::usable_cores() : options.cores;
  ATTUNE_ASSIGN(const runtime::Memory memory,
                runtime::Memory::allocate(static_cast<std::size_t>(options.triad_bytes) * 3));
  // Written once, so that every page is its own and not the shared page of zeros.
  std::fill_n(static_cast<double*>(memory.data()), memory.bytes() / sizeof(double), 1.0);
  Peaks peaks;
  Status pinned;
  std::thread([&] {
    pinned = runtime::pin_current_thread(cores.front());
    if (!pinned.ok()) return;
    measure_on({cores.front()}, memory, options.seconds, peaks.peak_gflops_1, peaks.triad_gbps_1);
    if (cores.size() == 1) {
      peaks.peak_gflops_all = peaks.peak_gflops_1;
      peaks.triad_gbps_all = peaks.triad_gbps_1;
      return;
    }
    measure_on(cores, memory, options.seconds, peaks.peak_gflops_all, peaks.triad_gbps_all);
  }).join();
  if (!pinned.ok()) return pinned.error();
  return peaks;
}

}  // namespace attune::probe

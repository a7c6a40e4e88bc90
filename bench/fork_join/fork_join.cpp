// What a parallel loop costs beyond its work: the time of an empty fork-join on the runtime's
// thread pool, back to back (workers still spinning) and after a pause (workers asleep).
//
// usage: bench_fork_join [WORKERS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "runtime/execution/affinity.h"
#include "runtime/execution/thread_pool.h"

namespace {

using attune::runtime::ThreadPool;
using SteadyTime = std::chrono::steady_clock;

void nothing(void*, std::int64_t, std::int64_t, std::int32_t) {}

double elapsed_us(SteadyTime::time_point start) {
  return std::chrono::duration<double, std::micro>(SteadyTime::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Mean of 1,000 loops in a row, repeated.
std::vector<double> back_to_back_us(ThreadPool& pool) {
  constexpr int kLoops = 1000;
  std::vector<double> times;
  for (int repeat = 0; repeat < 500; ++repeat) {
    const auto start = SteadyTime::now();
    for (int i = 0; i < kLoops; ++i) pool.parallel_for(pool.workers(), nothing, nullptr);
    times.push_back(elapsed_us(start) / kLoops);
  }
  return times;
}

// Single loops, each after a pause that is longer than the workers spin.
std::vector<double> after_pause_us(ThreadPool& pool) {
  std::vector<double> times;
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto start = SteadyTime::now();
    pool.parallel_for(pool.workers(), nothing, nullptr);
    times.push_back(elapsed_us(start));
  }
  return times;
}

void print(const char* name, const std::vector<double>& times) {
  std::printf("  %-14s min %7.3f us   median %7.3f us\n", name,
              *std::min_element(times.begin(), times.end()), median(times));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<int> cores = attune::runtime::allowed_cores();
  const int workers = argc > 1 ? std::atoi(argv[1]) : static_cast<int>(cores.size());
  if (workers < 1) {
    std::fprintf(stderr, "bench_fork_join: workers must be at least 1, not '%s'\n", argv[1]);
    return 2;
  }
  ThreadPool pool({.workers = workers, .cores = cores});
  if (!attune::runtime::pin_current_thread(cores[0]).ok()) return 1;
  std::printf("fork-join with %d workers on %zu cores\n", workers, cores.size());
  print("back to back", back_to_back_us(pool));
  print("after a pause", after_pause_us(pool));
  return 0;
}

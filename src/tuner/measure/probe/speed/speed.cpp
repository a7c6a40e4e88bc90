#include "tuner/measure/probe/speed/speed.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "base/clock.h"
#include "runtime/execution/affinity.h"
#include "runtime/execution/thread_pool.h"
#include "runtime/execution/usable_cores.h"
#include "runtime/memory/memory.h"
#include "tuner/measure/probe/machine.h"
#include "tuner/measure/probe/speed/disturbance.h"
#include "tuner/measure/probe/speed/fma_loop.h"
#include "tuner/measure/probe/speed/line_latency.h"
#include "tuner/measure/probe/speed/memory_loop.h"
#include "tuner/measure/probe/speed/memory_parts.h"
#include "tuner/measure/probe/speed/rates.h"

namespace attune::probe {
namespace {

constexpr double kNanosecond = 1e-9;
constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kFmaRounds = 10'000;
// Bytes of a pass, at least: several microseconds of the fastest cores, beside which reading the
// clock and starting a loop do not count.
constexpr std::int64_t kPass = std::int64_t{1} << 21;
constexpr std::int64_t kLeastBytes = std::int64_t{64} << 20, kMostBytes = std::int64_t{2} << 30;

std::int64_t rounded(std::int64_t bytes) { return std::max(kPage, bytes / kPage * kPage); }

// Additions that wait for each other take a cycle each.
double cycle_rate(double seconds) {
  constexpr std::int64_t kAdditions = 20'000, kWrittenOut = 20;
  return best_rate(seconds, static_cast<double>(kAdditions), [] {
    std::uint64_t sum = 0, step = 3;
    asm volatile("" : "+r"(step));
    for (std::int64_t i = 0; i < kAdditions; i += kWrittenOut) {
#pragma GCC unroll 20
      for (std::int64_t j = 0; j < kWrittenOut; ++j) {
        sum += step;
        asm volatile("" : "+r"(sum));
      }
    }
  });
}

// Bytes in a second. Each worker goes over a part of its own, as often as it takes to be long
// enough to be timed.
double moving_rate(runtime::ThreadPool& pool, const runtime::Memory& memory, std::int64_t part,
                   MemoryLoop loop, double seconds) {
  struct Work {
    char* data;
    std::int64_t part, rounds;
    MemoryLoop loop;
  };
  part =
      std::min(rounded(part), rounded(static_cast<std::int64_t>(memory.bytes()) / pool.workers()));
  Work work{static_cast<char*>(memory.data()), part, std::max(part, kPass) / kRoundBytes, loop};
  const double bytes = static_cast<double>(work.rounds * kRoundBytes) * pool.workers();
  return best_rate(seconds, bytes, [&] {
    pool.parallel_for(
        pool.workers(),
        [](void* closure, std::int64_t begin, std::int64_t end, std::int32_t) {
          const auto* mine = static_cast<const Work*>(closure);
          for (std::int64_t worker = begin; worker < end; ++worker) {
            mine->loop(mine->data + worker * mine->part, mine->part, mine->rounds);
          }
        },
        &work);
  });
}

double fork_join_us(runtime::ThreadPool& pool, double seconds) {
  constexpr int kLoops = 100;
  const double rate = best_rate(seconds, kLoops, [&] {
    for (int i = 0; i < kLoops; ++i) {
      pool.parallel_for(
          pool.workers(), [](void*, std::int64_t, std::int64_t, std::int32_t) {}, nullptr);
    }
  });
  return 1e6 / rate;
}

// Workers write a part each, then each reads that of the one `distance` after it, over and over.
struct WrittenAndRead {
  char* data;
  std::int64_t part, workers, distance;

  static void write(void* closure, std::int64_t begin, std::int64_t end, std::int32_t) {
    const auto* work = static_cast<const WrittenAndRead*>(closure);
    std::memset(work->data + begin * work->part, 1,
                static_cast<std::size_t>((end - begin) * work->part));
  }
  static void read(void* closure, std::int64_t begin, std::int64_t end, std::int32_t) {
    const auto* work = static_cast<const WrittenAndRead*>(closure);
    for (std::int64_t worker = begin; worker < end; ++worker) {
      const std::int64_t from = (worker + work->distance) % work->workers;
      vector_reads()(work->data + from * work->part, work->part, work->part / kRoundBytes);
    }
  }
};

// What it costs that another worker has written what one reads, and has to write it again: a line
// goes to the reader, and its writer has to take it back.
double exchange_rate(runtime::ThreadPool& pool, runtime::Memory& memory, std::int64_t part,
                     double seconds) {
  const auto written_and_read = [&](std::int64_t distance) {
    WrittenAndRead work{static_cast<char*>(memory.data()), rounded(part), pool.workers(), distance};
    return 1 / best_rate(seconds / 2, 1, [&] {
             pool.parallel_for(work.workers, WrittenAndRead::write, &work);
             pool.parallel_for(work.workers, WrittenAndRead::read, &work);
           });
  };
  const double own = written_and_read(0), others = written_and_read(1);
  const double bytes = static_cast<double>(rounded(part));
  return bytes / std::max(others - own, 0.01 * own);
}

CacheSizes caches_of(const SpeedOptions& options, const std::vector<int>& cores) {
  return {options.l1_bytes, options.l2_bytes, options.l3_bytes * count_caches(3, cores)};
}

// So many of them, not all from one end: neighbours share what is measured.
std::vector<int> spread(const std::vector<int>& cores, int count) {
  std::vector<int> some;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    some.push_back(cores[i * cores.size() / static_cast<std::size_t>(count)]);
  }
  return some;
}

// For what all these cores read at once, and no more than this machine can spare.
Result<runtime::Memory> memory_for(const SpeedOptions& options, const std::vector<int>& cores) {
  const int count = static_cast<int>(cores.size());
  const std::int64_t spare =
      std::clamp(describe_machine().memory_bytes / 8, kLeastBytes, kMostBytes);
  const MemoryPart part = far_part(caches_of(options, cores), count, spare);
  const auto all = static_cast<std::size_t>(part.bytes * count);
  ATTUNE_ASSIGN(runtime::Memory memory, runtime::Memory::allocate(all));
  // Every page is its own and not the shared page of zeros.
  auto* bytes = static_cast<char*>(memory.data());
  for (std::size_t i = 0; i < all; i += kPage) bytes[i] = 1;
  return memory;
}

class Measurement {
 public:
  Measurement(const SpeedOptions& options, runtime::Memory memory)
      : options_(options), memory_(std::move(memory)) {}

  Speed run(const std::vector<int>& cores) {
    Speed speed;
    const std::vector<int> first = {cores.front()};
    runtime::ThreadPool alone({.workers = 1, .cores = first});
    const FmaLoop loop = core_speed(alone, speed.core);
    speed.one = memory_speed(alone, first);
    speed.dram_latency_ns = line_latency_ns(static_cast<char*>(memory_.data()), beyond_caches());
    if (cores.size() == 1) {
      speed.all = speed.one;
      speed.fma_bytes_all = speed.core.fma_bytes;
      speed.exchange = speed.one.l3;
      return speed;
    }
    all_cores(cores, loop, speed);
    return speed;
  }

  // The cores of a virtual machine are not always cores of their own: the best of some tries, until
  // they are.
  void all_cores(const std::vector<int>& cores, const FmaLoop& loop, Speed& speed) {
    constexpr int kTries = 5;
    constexpr double kOfTheirOwn = 0.9;
    const auto count = static_cast<double>(cores.size());
    for (int i = 0; i < kTries && speed.fma_bytes_all < kOfTheirOwn * count * speed.core.fma_bytes;
         ++i) {
      runtime::ThreadPool pool({.workers = static_cast<int>(cores.size()), .cores = cores});
      const double bytes = fma_rate(pool, loop, kFmaRounds, seconds()) * kNanosecond * kBytesOfFlop;
      speed.fma_bytes_all = std::max(speed.fma_bytes_all, bytes);
      const MemorySpeed memory = memory_speed(pool, cores);
      speed.all.l2 = std::max(speed.all.l2, memory.l2);
      speed.all.l3 = std::max(speed.all.l3, memory.l3);
      speed.all.dram = std::max(speed.all.dram, memory.dram);
      const std::int64_t part = options_.l2_bytes / 16;
      const double exchange = exchange_rate(pool, memory_, part, seconds()) * kNanosecond;
      speed.exchange = std::max(speed.exchange, std::min(exchange, speed.one.l2));
      const double fork_join = fork_join_us(pool, seconds());
      if (i == 0 || fork_join < speed.fork_join_us) speed.fork_join_us = fork_join;
    }
  }

 private:
  static constexpr double kBytesOfFlop = 2;  // two operations on the four bytes of an element

  double seconds() const { return options_.seconds; }

  // Of one core.
  std::int64_t beyond_caches() const {
    const std::int64_t wanted = std::max(kLeastBytes, 4 * options_.l3_bytes);
    return std::min(wanted, static_cast<std::int64_t>(memory_.bytes()));
  }

  // Returns the loop of multiply-adds that is the fastest one: the widest vectors need not be.
  FmaLoop core_speed(runtime::ThreadPool& pool, CoreSpeed& speed) {
    speed.cycles = cycle_rate(seconds()) * kNanosecond;
    const std::vector<FmaLoop> loops = fma_loops();
    FmaLoop best = loops.front();
    for (std::size_t i = 0; i < std::min<std::size_t>(loops.size(), 2); ++i) {
      const double bytes =
          fma_rate(pool, loops[i], kFmaRounds, seconds()) * kNanosecond * kBytesOfFlop;
      if (bytes > 1.05 * speed.fma_bytes) speed.fma_bytes = bytes, best = loops[i];
      speed.fma_vectors = std::max(speed.fma_vectors, bytes / loops[i].vector_bytes);
    }
    speed.chained_fmas = best_rate(seconds(), static_cast<double>(kFmaRounds),
                                   [&] {
                                     const volatile float sink = best.run_chain(kFmaRounds);
                                     static_cast<void>(sink);
                                   }) *
                         kNanosecond;
    const std::int64_t near = options_.l1_bytes / 2;
    const auto rate = [&](MemoryLoop loop) {
      return moving_rate(pool, memory_, near, loop, seconds()) * kNanosecond;
    };
    speed.load_bytes = rate(vector_reads());
    speed.broadcasts = rate(broadcast_reads()) / static_cast<double>(memory_vector_bytes());
    speed.store_bytes = rate(vector_writes());
    return best;
  }

  // Of a pool that stands on these cores.
  MemorySpeed memory_speed(runtime::ThreadPool& pool, const std::vector<int>& cores) {
    const auto rate = [&](runtime::ThreadPool& readers, const MemoryPart& part, double times) {
      return moving_rate(readers, memory_, part.bytes, vector_reads(), times * seconds()) *
             kNanosecond;
    };
    const CacheSizes caches = caches_of(options_, cores);
    const MemoryPart l3 = l3_part(caches, pool.workers());
    const auto all = static_cast<std::int64_t>(memory_.bytes());
    MemorySpeed speed;
    speed.l2 = rate(pool, l2_part(caches, pool.workers()), 1);
    if (l3.cores == pool.workers()) {
      speed.l3 = rate(pool, l3, 2);
    } else {
      runtime::ThreadPool some({.workers = l3.cores, .cores = spread(cores, l3.cores)});
      speed.l3 = rate(some, l3, 2);
    }
    speed.dram = rate(pool, far_part(caches, pool.workers(), all), 2);
    return speed;
  }

  const SpeedOptions& options_;
  runtime::Memory memory_;
};

}  // namespace

Result<Speed> measure_speed(const SpeedOptions& options) {
  const std::vector<int> cores = options.cores.empty() ? runtime::usable_cores() : options.cores;
  ATTUNE_ASSIGN(runtime::Memory memory, memory_for(options, cores));
  Measurement measurement(options, std::move(memory));
  Speed speed;
  Status pinned;
  const SteadyClock clock;
  const std::int64_t start_ns = clock.now_ns();
  const Disturbance before = disturbance_so_far(cores);
  std::thread([&] {
    pinned = runtime::pin_current_thread(cores.front());
    if (pinned.ok()) speed = measurement.run(cores);
  }).join();
  if (!pinned.ok()) return pinned.error();
  const Disturbance after = disturbance_so_far(cores);
  const double seconds = seconds_between(start_ns, clock.now_ns());
  speed.preemptions = (after.preemptions - before.preemptions) / seconds;
  speed.stolen = (after.stolen_seconds - before.stolen_seconds) /
                 (seconds * static_cast<double>(cores.size()));
  return speed;
}

}  // namespace attune::probe

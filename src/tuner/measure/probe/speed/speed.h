// How fast this machine is, by a quick measurement: what a core computes and reads, what reaches it
// from each level of memory, what all cores do at once, and what starting them costs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace attune::probe {

// Of one core, in a nanosecond.
struct CoreSpeed {
  double cycles = 0;
  double fma_vectors = 0, fma_bytes = 0;  // multiply-adds of the widest vectors that pay
  double chained_fmas = 0;                // that wait for each other
  double broadcasts = 0, load_bytes = 0;  // from the first-level cache
  double store_bytes = 0;                 // to it
};

// Bytes in a nanosecond, of the cores together.
struct MemorySpeed {
  double l2 = 0, l3 = 0, dram = 0;
};

struct Speed {
  CoreSpeed core = {};
  MemorySpeed one = {}, all = {};  // one core, all cores
  double dram_latency_ns = 0;      // of a line that nothing foresees
  double fma_bytes_all = 0;        // of all cores
  double exchange = 0;             // bytes in a nanosecond, that one core writes and another reads
  double fork_join_us = 0;         // a loop of nothing on all cores
  // How often in a second other programs took a core from this process while it measured, and the
  // part of the cores' time that the host took from all.
  double preemptions = 0, stolen = 0;
};

struct SpeedOptions {
  std::vector<int> cores = {};  // empty: all this process may use; the first is "one core"
  std::int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20;
  std::int64_t l3_bytes = 16 << 20;  // of one such cache; the cores may have several
  double seconds = 0.01;             // for each figure
};

// The best of many short passes. Takes about a third of a second; leaves the affinity of the
// caller alone.
Result<Speed> measure_speed(const SpeedOptions& options);

}  // namespace attune::probe

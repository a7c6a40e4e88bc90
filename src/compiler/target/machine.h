// How fast a processor is: what a core does in a cycle, and what reaches it from the levels of
// memory. Measured where the processor is at hand, stated for others; schedules are predicted by
// it.
#pragma once

#include <algorithm>
#include <limits>

namespace attune::target {

// The defaults are of a current x86 server core.
struct Machine {
  double ghz = 3.3;
  // Instructions, of whatever sort, that begin in a cycle, and how many behind one that waits may
  // begin before it; 0: none, as where all begin in their order.
  double issue_per_cycle = 6, reorder_window = 320;
  // Multiply-adds, loads and stores: instructions, and bytes of their vectors.
  double fmas_per_cycle = 2, fma_bytes_per_cycle = 64;
  double loads_per_cycle = 2, load_bytes_per_cycle = 64;
  double store_bytes_per_cycle = load_bytes_per_cycle / 2;  // as most cores do
  double fma_latency = 4;  // cycles, until the result can be a factor of the next
  // Bytes in a cycle that one core reads from there.
  double l2_bandwidth = 32, l3_bandwidth = 20, dram_bandwidth = 10;
  double dram_latency_ns = 90;  // until a line of memory that nobody asked for before is there
  // Of what one core writes and another reads, forth and back.
  double exchange_bandwidth = 2.5;
  // All cores together, as a multiple of one: of arithmetic, where cores are threads of fewer, and
  // of what they read.
  double compute_sharing = std::numeric_limits<double>::max();
  double l3_sharing = 1.9, dram_sharing = 1.6;
  double fork_join_us = 0.5;  // of all cores, which are started in turn
  int cores = 0;              // that these were measured on; 0: they are stated
};

// What it takes to start so many threads and hear of their end: a part of what all cores take,
// where that was measured; what is stated is taken for any number.
inline double fork_join_us(const Machine& machine, int threads) {
  if (machine.cores < 2) return machine.fork_join_us;
  return machine.fork_join_us * std::max(0, threads - 1) / (machine.cores - 1);
}

}  // namespace attune::target

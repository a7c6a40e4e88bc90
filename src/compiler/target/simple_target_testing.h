// A processor for tests of bounds: one operation a nanosecond and lane, and figures that are easy
// to divide by.
#pragma once

#include "compiler/target/target.h"

namespace attune::target {

inline Target simple_target(int threads) {
  Target target;
  target.threads = threads;
  target.l1_bytes = 1000, target.l2_bytes = 10'000, target.l3_bytes = 100'000;
  target.machine = {.ghz = 1,
                    .fma_bytes_per_cycle = 64,
                    .load_bytes_per_cycle = 64,
                    .l2_bandwidth = 32,
                    .l3_bandwidth = 10,
                    .dram_bandwidth = 5,
                    .l3_sharing = 3,
                    .dram_sharing = 1.5,
                    .fork_join_us = 2};
  return target;
}

}  // namespace attune::target

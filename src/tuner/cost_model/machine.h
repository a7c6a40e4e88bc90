// What the analytic model knows about a processor beyond its target: throughputs and bandwidths,
// per core and cycle. The defaults describe a current x86 server core (Zen 3 and 4 as measured);
// only ratios matter for ranking, and measurements correct the rest.
#pragma once

namespace attune::cost_model {

struct MachineModel {
  double ghz = 3.3;
  // Instructions of 32 bytes; wider ones count as several.
  double fma_per_cycle = 2.0;
  double load_per_cycle = 1.7;
  double store_per_cycle = 1.0;
  double issue_per_cycle = 5.5;
  double fma_latency = 4.0;
  double reorder_window = 256.0;    // instructions
  double loop_entry_cycles = 14.0;  // set-up, and the branch mispredicted at the end
  // Bytes per cycle and core that arrive from the cache of the name.
  double l2_bandwidth = 28.0;
  double l3_bandwidth = 17.0;
  double dram_bandwidth = 10.0;
  // Bandwidth of all cores together, as a multiple of one core's.
  double l3_sharing = 1.9;
  double dram_sharing = 1.6;
  double fork_join_us = 0.5;
  // The part of a cache that a kernel can count on.
  double cache_share = 0.7;
};

}  // namespace attune::cost_model

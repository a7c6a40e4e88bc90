// What the analytic model believes of a processor, per core and cycle: what its target says, less
// what kernels do not reach of it; and a few properties that current cores have in common.
#pragma once

#include <algorithm>

#include "compiler/target/target.h"

namespace attune::cost_model {

struct MachineModel {
  explicit MachineModel(const target::Target& target);

  double ghz;
  double issue_per_cycle, reorder_window;  // instructions
  double fma_latency;
  double dram_latency_us;           // of a line
  double loop_entry_cycles = 14.0;  // set-up, and the branch mispredicted at the end
  // Bytes per cycle and core that arrive from the cache of the name.
  double l2_bandwidth, l3_bandwidth, dram_bandwidth;
  double exchange_bandwidth;  // of what another core has just written
  double line_exchange_us;    // of a line that two cores write to, forth and back
  // All cores together, as a multiple of one: arithmetic and bandwidths.
  double compute_sharing, l3_sharing, dram_sharing;
  double fork_join_us;  // of the target's threads
  // The part of a cache that a kernel can count on.
  double cache_share = 0.7;

  // Cycles of one instruction of each sort on vectors of so many bytes.
  double fma_cycles(double bytes) const { return std::max(1 / fmas, bytes / fma_bytes); }
  double load_cycles(double bytes) const { return std::max(1 / loads, bytes / load_bytes); }
  double store_cycles(double bytes) const { return std::max(1.0, bytes / store_bytes); }

 private:
  double fmas, fma_bytes;
  double loads, load_bytes;
  double store_bytes;
};

}  // namespace attune::cost_model

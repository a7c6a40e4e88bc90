#include "compiler/target/bound.h"

#include <algorithm>

namespace attune::target {

double bound_us(const Work& work, const Target& target) {
  constexpr double kElement = 4, kOperations = 2, kNanosecondsPerUs = 1e3;
  const Machine& machine = target.machine;
  const double threads = std::max(1, target.threads);
  const double computing = std::min(threads, machine.compute_sharing);
  const double cycles_per_us = machine.ghz * kNanosecondsPerUs;
  const auto moving_us = [&](double bytes, double per_cycle, double cores) {
    return bytes / (per_cycle * cycles_per_us * std::min(threads, cores));
  };
  const double operations_per_us =
      machine.fma_bytes_per_cycle / kElement * kOperations * cycles_per_us * computing;
  const double warm = work.bytes - work.cold_bytes, each = warm / threads;
  double warm_us = 0;
  if (each <= static_cast<double>(target.l1_bytes)) {
    warm_us = moving_us(warm, machine.load_bytes_per_cycle, computing);
  } else if (each <= static_cast<double>(target.l2_bytes)) {
    warm_us = moving_us(warm, machine.l2_bandwidth, computing);
  } else if (warm <= static_cast<double>(target.l3_bytes)) {
    warm_us = moving_us(warm, machine.l3_bandwidth, machine.l3_sharing);
  } else {
    warm_us = moving_us(warm, machine.dram_bandwidth, machine.dram_sharing);
  }
  const double cold_us = moving_us(work.cold_bytes, machine.dram_bandwidth, machine.dram_sharing);
  const double start_us = target.launch.are_there() ? target.launch.launch_us
                          : target.threads > 1      ? fork_join_us(machine, target.threads)
                                                    : 0;
  return std::max({work.flops / operations_per_us, warm_us, cold_us}) + start_us;
}

}  // namespace attune::target

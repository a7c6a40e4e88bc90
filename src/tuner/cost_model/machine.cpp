#include "tuner/cost_model/machine.h"

namespace attune::cost_model {
namespace {

// What kernels reach of what a loop of nothing but loads, or of reads from one level of memory,
// does.
constexpr double kLoads = 0.8, kL2 = 0.875, kL3 = 0.65;
// What kernels reach of the width of a core and of its window: 5.5 instructions and 256 on the core
// that the model was fitted to, a Zen 4, which begins 6 and has 320. Zen 5 does 7 to 7.4 of 8 in
// loops of additions, moves and loads that do not wait for each other.
constexpr double kIssue = 5.5 / 6, kWindow = 0.8;
// Starting one more thread and hearing of its end moves a line forth and back; several move at
// once.
constexpr double kLinesAtOnce = 4;

}  // namespace

MachineModel::MachineModel(const target::Target& target)
    : ghz(target.machine.ghz),
      issue_per_cycle(kIssue * target.machine.issue_per_cycle),
      reorder_window(kWindow * target.machine.reorder_window),
      fma_latency(target.machine.fma_latency),
      dram_latency_us(1e-3 * target.machine.dram_latency_ns),
      l2_bandwidth(kL2 * target.machine.l2_bandwidth),
      l3_bandwidth(kL3 * target.machine.l3_bandwidth),
      dram_bandwidth(target.machine.dram_bandwidth),
      exchange_bandwidth(target.machine.exchange_bandwidth),
      line_exchange_us(target::fork_join_us(target.machine, 2) / kLinesAtOnce),
      compute_sharing(target.machine.compute_sharing),
      l3_sharing(target.machine.l3_sharing),
      dram_sharing(target.machine.dram_sharing),
      fork_join_us(target::fork_join_us(target.machine, target.threads)),
      fmas(target.machine.fmas_per_cycle),
      fma_bytes(target.machine.fma_bytes_per_cycle),
      loads(kLoads * target.machine.loads_per_cycle),
      load_bytes(kLoads * target.machine.load_bytes_per_cycle),
      store_bytes(target.machine.store_bytes_per_cycle) {}

}  // namespace attune::cost_model

#include "tuner/cost_model/launches/launch_model.h"

#include <algorithm>
#include <cmath>

namespace attune::cost_model {
namespace {

// Besides what stages keep in registers: addresses, counters, what is under way.
constexpr std::int64_t kOtherRegisterBytes = 40 * 4;
// Cycles of a scheduler for an instruction: operands meet in banks of registers, and loads are
// waited for, which other warps of the scheduler hide a part of.
constexpr double kSlotCycles = 1.5, kAloneCycles = 0.25;
// Starting, finding its place and storing: what a launch takes beside its loops, in empty ones.
constexpr double kSetUp = 0.6;
// Of the latency of memory, that of the second-level cache; of its bandwidth, what all processors
// draw together; of the time of fetches that nothing is computed beside, what is left to wait for.
constexpr double kCacheLatency = 0.3, kDrawn = 0.75, kAwaited = 0.4;
// By which power of their number blocks of a processor hide each other's waiting.
constexpr double kHiding = 0.2;
// Parts of a launch that overlap: the longest counts, and a little of the others.
constexpr double kOverlap = 3.5;
constexpr double kBlockUs = 0.6e-3;         // to start one more block
constexpr double kBlockInstructions = 100;  // of each warp, before its loops and behind them
constexpr double kWarpsOfABarrier = 16;     // that meet as fast as two

// Blocks of a launch that a multiprocessor holds at once.
std::int64_t resident_blocks(const space::LaunchShape& shape, const target::LaunchFacts& device) {
  const std::int64_t threads = std::max<std::int64_t>(1, shape.thread_count());
  const std::int64_t warps = (threads + device.warp - 1) / device.warp;
  std::int64_t blocks =
      std::min(device.resident_blocks, device.resident_threads / (warps * device.warp));
  if (shape.shared_bytes > 0) {
    blocks = std::min(blocks, device.resident_shared_bytes / shape.shared_bytes);
  }
  const std::int64_t registers =
      std::min(device.register_bytes, shape.register_bytes + kOtherRegisterBytes) * threads;
  blocks = std::min(blocks, device.resident_register_bytes / std::max<std::int64_t>(1, registers));
  return std::max<std::int64_t>(1, blocks);
}

}  // namespace

LaunchCost launch_cost(const LaunchWork& work, const target::LaunchFacts& device) {
  const BlockWork& block = work.block;
  const auto blocks = static_cast<double>(work.shape.block_count());
  const auto processors = static_cast<double>(device.multiprocessors);
  // Of the multiprocessor that has most; a few more blocks than processors make a second round.
  const double most = std::ceil(blocks / processors);
  const double resident = std::min(most, static_cast<double>(resident_blocks(work.shape, device)));
  const double us_per_cycle = 1e-3 / device.ghz;
  const double schedulers = device.fmas_per_cycle / static_cast<double>(device.warp);
  const double warps =
      std::ceil(static_cast<double>(work.shape.thread_count()) / static_cast<double>(device.warp));
  // Few warps leave schedulers idle.
  const double issued = std::min(schedulers, resident * warps);
  const double slot = kSlotCycles + kAloneCycles * issued / (resident * warps);
  const double instructions = slot * block.instructions + kBlockInstructions * warps;
  LaunchCost cost;
  cost.compute_us = most * instructions / issued * us_per_cycle;
  cost.matrix_us = most * block.matrix_cycles * us_per_cycle;
  cost.shared_us = most * block.shared_cycles * us_per_cycle;
  // A processor alone does not draw more than its share.
  const double busy = std::min(blocks, processors) / processors;
  const double drawn = kDrawn * device.l2_bandwidth;
  cost.l2_us = blocks * block.global_bytes / (drawn * busy) * 1e-3;
  if (work.tensor_bytes > static_cast<double>(device.l2_bytes)) {
    cost.dram_us = work.tensor_bytes / device.dram_bandwidth * 1e-3;
  }
  const double latency_ns = device.global_latency_ns * (cost.dram_us > 0 ? 1 : kCacheLatency);
  double waits = block.waits * latency_ns + kAwaited * block.awaited_bytes * processors / drawn;
  if (block.fetches > 0) {
    // The first is waited for; of the others, what the slabs before them do not last for.
    const double busy_cycles = std::max(instructions / issued, block.matrix_cycles);
    const double slab_ns = busy_cycles * us_per_cycle * 1e3 / block.fetches;
    waits += latency_ns + (block.fetches - 1) * std::max(0.0, latency_ns / block.ahead - slab_ns);
  }
  const double barriers = block.barriers * device.barrier_ns * (1 + warps / kWarpsOfABarrier);
  const double rounds = std::ceil(most / resident);
  const double waited = rounds * (waits + barriers) * 1e-3;
  cost.wait_us = waited / std::pow(resident, kHiding);
  const double alone_us = rounds * block.longest * us_per_cycle + waited;
  double sum = 0;
  for (const double part : {std::max(cost.compute_us + cost.wait_us, alone_us), cost.matrix_us,
                            cost.shared_us, cost.l2_us, cost.dram_us}) {
    sum += std::pow(part, kOverlap);
  }
  cost.us = device.launch_us * (1 + kSetUp) + kBlockUs * blocks * device.launch_us +
            std::pow(sum, 1 / kOverlap);
  return cost;
}

double LaunchModel::predict_us(const space::Scheduled& scheduled) const {
  double us = 0;
  for (LaunchWork& work : launch_works(scheduled.state, scheduled.bounds, device_)) {
    if (!work.ahead) us += launch_cost(work, device_).us;
  }
  return us;
}

}  // namespace attune::cost_model

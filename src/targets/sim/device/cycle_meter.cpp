#include "targets/sim/device/cycle_meter.h"

#include <algorithm>

namespace attune::sim {
namespace {

// How many different numbers there are; sorts them.
std::int64_t distinct(std::vector<std::int64_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  return std::unique(numbers.begin(), numbers.end()) - numbers.begin();
}

}  // namespace

void CycleMeter::begin_launch(const ir::Launch& launch) {
  const std::int64_t threads = std::max<std::int64_t>(1, launch.threads());
  resident_ = std::min(machine_.resident_blocks, machine_.resident_threads / threads);
  if (launch.shared_bytes > 0) {
    resident_ = std::min(resident_, (machine_.shared_kb << 11) / launch.shared_bytes);
  }
  resident_ = std::max<std::int64_t>(1, resident_);
  block_number_ = 0;
  multiprocessors_.assign(static_cast<std::size_t>(machine_.multiprocessors), {});
  const std::int64_t warps = (threads + machine_.warp - 1) / machine_.warp;
  warps_.assign(static_cast<std::size_t>(warps), {});
  arrivals_.resize(warps_.size());
  copying_.resize(warps_.size());
}

void CycleMeter::begin_block() {
  std::fill(warps_.begin(), warps_.end(), Spent{});
  std::fill(arrivals_.begin(), arrivals_.end(), std::deque<std::int64_t>{});
  std::fill(copying_.begin(), copying_.end(), false);
  block_ = {};
}

std::int64_t CycleMeter::segments(const ir::Touched& touched) {
  const std::int64_t bytes = touched.buffer->type.element_bytes();
  places_.clear();
  for (std::int64_t position : touched.positions) {
    places_.push_back(position * bytes / machine_.segment_bytes);
  }
  return distinct(places_);
}

// Different words of one bank are read one after the other; the same word goes to all who want it.
std::int64_t CycleMeter::bank_passes(const ir::Touched& touched) {
  const std::int64_t bytes = touched.buffer->type.element_bytes();
  places_.clear();
  for (std::int64_t position : touched.positions) {
    places_.push_back(position * bytes / machine_.bank_bytes);
  }
  places_.resize(static_cast<std::size_t>(distinct(places_)));
  std::vector<std::int64_t> words(static_cast<std::size_t>(machine_.banks));
  for (std::int64_t word : places_) ++words[static_cast<std::size_t>(word % machine_.banks)];
  return *std::max_element(words.begin(), words.end());
}

CycleMeter::Spent CycleMeter::access(const ir::Touched& touched) {
  switch (touched.buffer->scope) {
    case ir::Scope::Global:
      return {segments(touched) * machine_.segment_cycles,
              touched.write ? 0 : machine_.global_latency};
    case ir::Scope::Shared:
      return {bank_passes(touched), touched.write ? 0 : machine_.shared_latency};
    case ir::Scope::Stack:
      return {machine_.stack_cycles, 0};
    default:
      return {};
  }
}

void CycleMeter::step(int warp, const ir::Work& work, std::span<const ir::Touched> touched,
                      std::int64_t cycles) {
  Spent& spent = warps_[static_cast<std::size_t>(warp)];
  spent.busy += work.simple + work.costly * machine_.costly_cycles + cycles;
  // Reads of one statement are under way together.
  std::int64_t wait = 0;
  for (const ir::Touched& one : touched) {
    const Spent cost = access(one);
    spent.busy += cost.busy;
    if (one.asynchronous) {
      copying_[static_cast<std::size_t>(warp)] =
          copying_[static_cast<std::size_t>(warp)] || cost.waiting > 0;
    } else {
      wait = std::max(wait, cost.waiting);
    }
  }
  spent.waiting += wait;
}

std::int64_t CycleMeter::now(int warp) const {
  const Spent& spent = warps_[static_cast<std::size_t>(warp)];
  return block_.waiting + spent.busy + spent.waiting;
}

void CycleMeter::commit(int warp) {
  const auto at = static_cast<std::size_t>(warp);
  arrivals_[at].push_back(copying_[at] ? now(warp) + machine_.global_latency : 0);
  copying_[at] = false;
}

void CycleMeter::wait(int warp, std::int64_t groups) {
  auto& arrivals = arrivals_[static_cast<std::size_t>(warp)];
  std::int64_t latest = 0;
  for (; std::ssize(arrivals) > groups; arrivals.pop_front()) {
    latest = std::max(latest, arrivals.front());
  }
  warps_[static_cast<std::size_t>(warp)].waiting += std::max<std::int64_t>(0, latest - now(warp));
}

void CycleMeter::end_phase() {
  std::int64_t busy = 0, slowest = 0;
  for (Spent& warp : warps_) {
    busy += warp.busy;
    slowest = std::max(slowest, warp.busy + warp.waiting);
    warp = {};
  }
  block_.busy += busy;
  block_.waiting += std::max(busy, slowest);
}

void CycleMeter::barrier() {
  end_phase();
  block_.waiting += machine_.barrier_cycles;
}

void CycleMeter::end_block() {
  end_phase();
  Spent& on =
      multiprocessors_[static_cast<std::size_t>(block_number_++ % machine_.multiprocessors)];
  on.busy += block_.busy;
  on.waiting += block_.waiting;
}

void CycleMeter::end_launch() {
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < multiprocessors_.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    const std::int64_t blocks =
        (block_number_ - number + machine_.multiprocessors - 1) / machine_.multiprocessors;
    const std::int64_t together = std::max<std::int64_t>(1, std::min(resident_, blocks));
    const Spent& one = multiprocessors_[i];
    longest = std::max({longest, one.busy, (one.waiting + together - 1) / together});
  }
  cycles_ += machine_.launch_cycles + longest;
}

std::int64_t transfer_cycles(const Machine& machine, std::int64_t bytes) {
  return (bytes + machine.transfer_bytes_per_cycle - 1) / machine.transfer_bytes_per_cycle;
}

}  // namespace attune::sim

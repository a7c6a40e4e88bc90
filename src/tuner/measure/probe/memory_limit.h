// How much memory a worker may take: what its candidates are known to need, before the cage closes,
// and a soft limit below that while a kernel runs, so that one that takes too much is refused it.
#pragma once

#include <cstdint>
#include <set>

#include "base/cage/control_group.h"
#include "tuner/measure/probe/channel.h"
#include "tuner/measure/probe/exchange.h"

namespace attune::probe {

// What a worker must have before its cage closes.
struct WorkerNeeds {
  explicit WorkerNeeds(const Exchange& exchange);
  // Whether a worker with these can serve one with others.
  bool cover(const WorkerNeeds& others) const;
  // Of the group that it shares with the process that watches it.
  ControlGroup::Limits group_limits() const;

  std::set<int> threads = {};           // of its pools
  std::uint64_t mapped_bytes = 0;       // for buffers, at most
  std::int64_t memory_limit_bytes = 0;  // of kernels
};

class MemoryLimit {
 public:
  MemoryLimit();
  // The process may grow by so much beyond what it has now.
  void allow_growth(std::int64_t bytes) const;
  void lift() const;

 private:
  Descriptor statm_;  // opened while that is possible
};

}  // namespace attune::probe

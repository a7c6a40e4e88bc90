// Counts the cycles of launches. A warp keeps its multiprocessor busy for every operation, for
// every segment of global memory and for every pass over the banks of shared memory that an access
// of it takes, and waits for what it reads. What is copied asynchronously arrives a latency after
// its group was closed; a warp waits for what is left of that. Between two barriers a block takes
// as long as its warps keep the multiprocessor busy, or as its slowest warp takes with all its
// waiting, whichever is longer. Blocks go round the multiprocessors; those that reside on one at
// the same time fill each other's waiting.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "compiler/ir/interpret/launches.h"
#include "targets/sim/device/machine.h"

namespace attune::sim {

class CycleMeter : public ir::Meter {
 public:
  explicit CycleMeter(const Machine& machine) : machine_(machine) {}

  // Of all launches so far.
  std::int64_t cycles() const { return cycles_; }

  void begin_launch(const ir::Launch& launch) override;
  void begin_block() override;
  void step(int warp, const ir::Work& work, std::span<const ir::Touched> touched,
            std::int64_t cycles) override;
  void barrier() override;
  void commit(int warp) override;
  void wait(int warp, std::int64_t groups) override;
  void end_block() override;
  void end_launch() override;

 private:
  // Busy and waiting, of a warp between barriers, or of a block.
  struct Spent {
    std::int64_t busy = 0, waiting = 0;
  };
  Spent access(const ir::Touched& touched);
  // Of a warp, since its block began.
  std::int64_t now(int warp) const;
  std::int64_t segments(const ir::Touched& touched);
  std::int64_t bank_passes(const ir::Touched& touched);
  void end_phase();

  const Machine machine_;
  std::int64_t cycles_ = 0;
  std::int64_t resident_ = 1;  // blocks of a multiprocessor at the same time
  std::int64_t block_number_ = 0;
  std::vector<Spent> warps_;
  // Of each warp: when its groups of asynchronous copies arrive, oldest first, and whether the open
  // one reads global memory.
  std::vector<std::deque<std::int64_t>> arrivals_;
  std::vector<bool> copying_;
  Spent block_;  // `waiting` is all the time it takes alone
  std::vector<Spent> multiprocessors_;
  std::vector<std::int64_t> places_;
};

// How long moving bytes to or from the device takes.
std::int64_t transfer_cycles(const Machine& machine, std::int64_t bytes);

}  // namespace attune::sim

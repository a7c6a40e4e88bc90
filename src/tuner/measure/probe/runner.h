// The measuring child: a process of its own, pinned to cores of its own, that runs candidate
// kernels and survives whatever they do. A small server process is forked once and forks workers; a
// worker runs one candidate after the other, and is replaced when one of them kills or taints it.
// All of them end when the Runner, or the process that holds it, ends.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/cage/cage.h"
#include "base/result.h"
#include "runtime/execution/device.h"
#include "tuner/measure/probe/candidate.h"

namespace attune::probe {

struct RunnerOptions {
  // Whose kernels work in the host's memory; none: no candidates, the state of the machine only.
  const runtime::DeviceKind* device = nullptr;
  // Thread i of a candidate runs on cores[i % size]; empty: all cores this process may use.
  std::vector<int> cores = {};
  // Around the process that runs candidates; null: none.
  const CageRules* cage = nullptr;
  // A server that says nothing for so long is given up.
  double silence_ms = 30'000.0;
};

class Runner {
 public:
  // Best called early, while the process is small: the children are forks of it.
  static Result<Runner> start(const RunnerOptions& options = {});

  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) noexcept;
  ~Runner();

  // Measures the candidates one after the other. Failures of candidates, and the loss of the child,
  // are outcomes; an Error means that the request itself makes no sense. Calls from several threads
  // run one after the other.
  Result<Batch> measure(std::span<const Candidate> candidates, const MeasureOptions& options);

  // Loads all candidates, then times them in rounds, one repeat each in turn, so that they share
  // the machine's moods: for naming a winner among a few.
  Result<Batch> measure_interleaved(std::span<const Candidate> candidates,
                                    const InterleaveOptions& options);

  // The sentinel alone, for the state of the machine.
  Result<SentinelReading> sentinel();

 private:
  struct Impl;
  explicit Runner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune::probe

// The runner on this machine: built candidates become requests to the measuring child, which
// prepares constants once per layout and keeps them for every candidate that shares it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tuner/measure/runner.h"
#include "tuner/tuning/tuning.h"

namespace attune::cpu {

tuning::CorePlan plan_cores(const std::vector<int>& available, const target::Target& target);

class LocalRunner final : public measure::Runner {
 public:
  // Best called early, while the process is small and has one thread: the child is a fork of it.
  static Result<std::unique_ptr<LocalRunner>> start(const tuning::RunnerOptions& options);
  ~LocalRunner() override;

  Result<std::vector<measure::RunResult>> measure(std::span<const measure::RunRequest> requests,
                                                  const measure::Expectation& expectation,
                                                  const measure::RunOptions& options) override;
  Result<std::vector<measure::RunResult>> compare(std::span<const measure::RunRequest> requests,
                                                  const measure::Expectation& expectation,
                                                  const measure::RunOptions& options) override;
  std::string device() const override;
  double busy_seconds() const override;

 private:
  class Impl;
  explicit LocalRunner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune::cpu

// The runner on this machine: built candidates become requests to the measuring child, which
// prepares constants once per layout and keeps them for every candidate that shares it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tuner/measure/runner.h"

namespace attune::measure {

// Which cores measure and which build. With cores to spare the two do not meet and may happen at
// once; otherwise they take turns on all of them.
struct CorePlan {
  std::vector<int> measure;
  std::vector<int> build;
  bool overlap = false;
};
CorePlan plan_cores(const std::vector<int>& available, int threads);
// Of the cores this process may use.
CorePlan plan_cores(int threads);

struct LocalRunnerOptions {
  std::vector<int> cores;  // empty: all that this process may use
  std::string device = "local cpu";
};

class LocalRunner final : public Runner {
 public:
  // Best called early, while the process is small and has one thread: the child is a fork of it.
  static Result<std::unique_ptr<LocalRunner>> start(LocalRunnerOptions options);
  ~LocalRunner() override;

  Result<std::vector<RunResult>> measure(std::span<const RunRequest> requests,
                                         const Expectation& expectation,
                                         const RunOptions& options) override;
  Result<std::vector<RunResult>> compare(std::span<const RunRequest> requests,
                                         const Expectation& expectation,
                                         const RunOptions& options) override;
  std::string device() const override;
  double busy_seconds() const override;

 private:
  class Impl;
  explicit LocalRunner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune::measure

// The builder on this machine: worker threads that compile in process, each on one of the cores it
// is given, so that candidates can be measured on the others meanwhile.
#pragma once

#include <memory>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "compiler/target/target.h"
#include "tuner/measure/builder/build_candidate.h"
#include "tuner/measure/runner.h"

namespace attune::builder {

struct LocalBuilderOptions {
  target::Target target;   // resolved
  std::vector<int> cores;  // a worker per core; empty: all that this process may use
  kernel::Limits limits = kLimits;
};

class LocalBuilder final : public measure::Builder {
 public:
  explicit LocalBuilder(LocalBuilderOptions options);
  ~LocalBuilder() override;

  std::vector<measure::BuiltCandidate> build(
      std::span<const measure::BuildRequest> requests) override;
  Result<measure::Expectation> expect(const ir::Program& program, std::uint64_t seed) override;

 private:
  class Workers;
  std::unique_ptr<Workers> workers_;
};

}  // namespace attune::builder

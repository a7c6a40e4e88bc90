// A builder without threads of its own: it compiles where it is called, on the cores that the
// calling thread may use. For stages that are given their cores one by one.
#pragma once

#include "compiler/kernel/kernel.h"
#include "compiler/target/target.h"
#include "tuner/measure/builder/build_candidate.h"
#include "tuner/measure/runner.h"

namespace attune::builder {

class CallingBuilder final : public measure::Builder {
 public:
  // `target` must be resolved.
  explicit CallingBuilder(target::Target target, kernel::Limits limits = kLimits);

  std::vector<measure::BuiltCandidate> build(
      std::span<const measure::BuildRequest> requests) override;
  Result<measure::Expectation> expect(const ir::Program& program, std::uint64_t seed) override;

 private:
  target::Target target_;
  kernel::Limits limits_;
  PrepareCache prepared_;
};

}  // namespace attune::builder

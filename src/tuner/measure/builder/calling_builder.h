// A builder without threads of its own: it compiles where it is called, on the cores that the
// calling thread may use. For stages that are given their cores one by one.
#pragma once

#include "compiler/ir/target.h"
#include "tuner/measure/builder/build_candidate.h"
#include "tuner/measure/runner.h"

namespace attune::builder {

class CallingBuilder final : public measure::Builder {
 public:
  // `target` must be resolved.
  explicit CallingBuilder(ir::Target target, Limits limits = {});

  std::vector<measure::BuiltCandidate> build(
      std::span<const measure::BuildRequest> requests) override;
  Result<measure::Expectation> expect(const ir::Program& program, std::uint64_t seed) override;

 private:
  ir::Target target_;
  Limits limits_;
  PrepareCache prepared_;
};

}  // namespace attune::builder

// Building one candidate: replay its trace, lower, generate code. A candidate that cannot be built
// is a result like any other; its reason begins with the step that failed: "replay: ", "lower: ",
// "size: ", "codegen: " or "spills: ".
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "compiler/ir/stmt.h"
#include "compiler/ir/target.h"
#include "tuner/measure/runner.h"

namespace attune::builder {

// Compiled prepare kernels by the text of their loops: candidates that lay constants out alike
// share one. Safe to use from several threads.
class PrepareCache {
 public:
  std::shared_ptr<const measure::KernelCode> find(std::uint64_t id) const;
  // What is kept under its id: the same code, or what another thread was faster with.
  std::shared_ptr<const measure::KernelCode> add(std::shared_ptr<const measure::KernelCode> code);

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const measure::KernelCode>> codes_;
};

// What is not worth building or running; negative: no limit.
struct Limits {
  int vector_spills = 64;             // in innermost loops
  std::int64_t expressions = 60'000;  // of the lowered kernel: more take a second to compile
};

// `target` must be resolved.
measure::BuiltCandidate build_candidate(const measure::BuildRequest& request,
                                        const ir::Target& target, const Limits& limits,
                                        PrepareCache& prepared);

}  // namespace attune::builder

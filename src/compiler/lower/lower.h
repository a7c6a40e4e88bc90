// Lowering: from a scheduled program to loop IR, as one readable list of passes (passes.cpp). The
// result is up to two kernels: `prepare` computes, once and ahead of time, the stages that depend
// on constants only (packed or transformed weights); `main` is what runs.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/stmt.h"
#include "compiler/schedule/state.h"
#include "compiler/target/target.h"

namespace attune::lower {

struct Lowered {
  // Parameters: the constant inputs in the program's order, then `prepared`.
  std::optional<ir::Kernel> prepare;
  // Parameters: the inputs that main reads, in the program's order, then `prepared`, then outputs.
  ir::Kernel main;
  std::vector<ir::Buffer> prepared;                      // 1-D, as they lie in memory
  std::vector<std::string> main_inputs, prepare_inputs;  // names of the leading parameters
};

struct Pass {
  std::string_view name;
  std::string_view meaning;
  ir::Kernel (*run)(const ir::Kernel&, const target::Target&);
};
// The passes over a kernel, in order; each target names one.
using Pipeline = std::span<const Pass>;
// For processors with vector units and a stack.
Pipeline vector_pipeline();
// For devices with blocks, threads and shared memory.
Pipeline launch_pipeline();

struct Options {
  Pipeline pipeline = vector_pipeline();
  target::Target target = {};
  std::vector<std::string> disabled;  // names of passes to leave out
  // Called after every pass, the building of nests ("nests") included.
  std::function<void(std::string_view pass, const ir::Kernel& kernel)> observe;
};

Result<Lowered> lower(const schedule::State& state, const Options& options = {});

}  // namespace attune::lower

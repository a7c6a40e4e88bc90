// The harness of tests with kernels that have one mistake each: what a schedule lowers to, what the
// interpreter of launches says of it, and whether it finds each mistake and names its kind.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/interpret/launches.h"
#include "compiler/ir/nodes/array.h"
#include "compiler/ir/nodes/stmt.h"

namespace attune::test {

// A program and its schedule, in text.
struct KernelSource {
  std::string program, trace;
};
// As lowered for blocks and threads.
ir::Kernel lowered(const KernelSource& source);

// A run on small whole numbers, the last parameter being the output.
struct LaunchRun {
  std::vector<ir::Finding> findings;
  std::vector<ir::Array> arrays;  // by parameter, afterwards
};
LaunchRun run_kernel(const ir::Kernel& kernel, const ir::LaunchOptions& options = {});

struct Defect {
  const char* name;
  const KernelSource& source;
  std::function<ir::Kernel(const ir::Kernel&)> mutate;
  ir::FindingKind kind;
};

// The run, in which nothing was found.
LaunchRun expect_no_findings(const ir::Kernel& kernel);
// Each mutation changes its kernel, and its kind is among what is found then.
void expect_each_found(std::span<const Defect> defects);

}  // namespace attune::test

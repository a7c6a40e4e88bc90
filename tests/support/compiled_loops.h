// Loops that no program was lowered to, compiled by themselves: what a device makes of them.
#pragma once

#include "base/result.h"
#include "compiler/codegen/code_generator.h"
#include "compiler/ir/nodes/stmt.h"
#include "compiler/target/target.h"

namespace attune::test {

// One kernel, as the target's device loads it.
Result<codegen::Module> compile_loops(const ir::Kernel& loops, const target::Target& target);

}  // namespace attune::test

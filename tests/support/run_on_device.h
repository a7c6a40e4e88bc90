// Runs one kernel on the device of its target, by the way that every artifact takes.
#pragma once

#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/array.h"
#include "compiler/ir/nodes/stmt.h"
#include "compiler/target/target.h"

namespace attune::test {

// Each argument is what the parameter holds, before and after.
Status run_on_device(const ir::Kernel& kernel, const target::Target& target,
                     std::vector<ir::Array>& arguments);

}  // namespace attune::test

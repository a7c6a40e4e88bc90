// Which inputs of a program may be the same memory as its output.
#pragma once

#include <vector>

#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/schedule/trace.h"

namespace attune::kernel {

// By input: whether each of its elements is read for the same element of the only output and for
// nothing else, so that whoever writes that has read it. Elementwise operators and residuals that
// are added behind a product are such. Traces that write to the output ahead of time have none.
std::vector<bool> inputs_in_place(const ir::Program& program, const schedule::Trace& trace);

}  // namespace attune::kernel

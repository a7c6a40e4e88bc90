// The interpreter: the meaning of programs and kernels, and the reference for all generated code.
// Arithmetic happens in the declared types, rounded at every operation; f16 and bf16 are computed
// in f32 and rounded when stored or cast; mathematical functions are computed in f64 and rounded.
// Reductions combine in axis order. min(a, b) is b where the operands are not comparable, and so
// is max. Accesses out of bounds and reads of memory that nobody wrote are errors.
//
// Parallel, vectorised, unrolled and bound loops run in order, except that the threads of a bound
// loop with a barrier in it run from barrier to barrier together.
#pragma once

#include <vector>

#include "base/result.h"
#include "compiler/ir/nodes/array.h"
#include "compiler/ir/nodes/stmt.h"
#include "compiler/ir/nodes/tensor_expr.h"

namespace attune::ir {

// Computes all outputs, in the order of program.outputs.
Result<std::vector<Array>> interpret(const Program& program, const std::vector<Array>& inputs);

// Computes only some elements of one output (and what they need), for programs too large to run as
// a whole. Each position has one index per dimension.
Result<std::vector<double>> interpret_at(const Program& program, const std::vector<Array>& inputs,
                                         std::size_t output,
                                         const std::vector<std::vector<std::int64_t>>& positions);

// Runs a kernel on its parameters, in place. The first `initialised` of them hold data, the others
// are outputs that the kernel may not read before it wrote them; -1: all hold data.
Status interpret(const Kernel& kernel, std::vector<Array>& buffers, int initialised = -1);

}  // namespace attune::ir

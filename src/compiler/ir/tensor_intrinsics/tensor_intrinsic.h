// Tensor intrinsics: instructions of a device that work on small tiles, declared as data. An
// intrinsic adds what its meaning says to its output: output = output combined with the reduction.
// In the loop IR it is an opaque call `@NAME(output, input…)`, each operand written as a load of
// its first element followed by its strides in elements, one per dimension. Which of them a device
// has is a fact of its target.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/ir/nodes/tensor_expr.h"

namespace attune::ir {

struct IntrinsicOperand {
  std::string_view name;
  std::vector<Scope> scopes;  // where it may be
  bool dense_rows = false;    // elements of its last dimension lie side by side
};

struct TensorIntrinsic {
  std::string_view name;
  // A program of one stage with a reduction: its inputs are operands, its stage is the output.
  std::string_view meaning;
  std::vector<IntrinsicOperand> operands;  // the output, then the inputs in the program's order
  std::int64_t cycles = 0;                 // of the warp that runs it

  Program program() const;
};

// One function per intrinsic, each in the file of its name.
TensorIntrinsic mma_4x4x4_f32();
TensorIntrinsic mma_8x8x4_f32();
TensorIntrinsic dot_4_f32();

std::span<const TensorIntrinsic> tensor_intrinsics();
const TensorIntrinsic* find_tensor_intrinsic(std::string_view name);

}  // namespace attune::ir

// Tensor intrinsics: instructions of a device that work on small tiles, declared as data. An
// intrinsic adds what its meaning says to its output: output = output combined with the reduction.
// In the loop IR it is an opaque call `@NAME(output, input…)`, each operand written as a load of
// its first element followed by its strides in elements, one per dimension. Which of them a device
// has is a fact of its target.
//
// An intrinsic of a warp is called by all its lanes together, and its meaning is what one lane
// computes. Inputs are a tile for all lanes, which work at different steps of it: an input is
// written as the tile's first element, the same in all lanes, its strides, and how far apart its
// steps lie. What a lane loads of a tile is not what it computes with: that is the instruction's
// business, and Fragment says which elements go into which of its registers.
//
// The call of an intrinsic that rounds its inputs ends with one more number: bit i is set where
// input i is known to be rounded already, and a code generator need not do it again.
#pragma once

#include <cstdint>
#include <optional>
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

// What each lane of a warp holds of an operand, as expressions of `lane` and of `e`, the number of
// an element in the lane's registers.
struct Fragment {
  int elements = 0;                     // of a lane
  std::string_view step;                // along the lanes, of a loaded element; inputs only
  std::vector<std::string_view> index;  // by dimension of the operand
  std::string_view own_step;            // at which the lane computes; inputs only
};
// One element of a fragment, in numbers.
struct FragmentPlace {
  std::int64_t step = 0;
  std::vector<std::int64_t> index;
};

struct WarpForm {
  int lanes = 32;
  std::vector<Fragment> fragments;  // by operand
  std::string_view instruction;     // as assemblers name it
  // How many of them, one behind the other: each takes as many of a lane's input registers, in
  // order, and adds to the same results.
  int instructions = 1;
};

struct TensorIntrinsic {
  std::string_view name;
  // A program of one stage with a reduction: its inputs are operands, its stage is the output.
  std::string_view meaning;
  std::vector<IntrinsicOperand> operands;  // the output, then the inputs in the program's order
  std::int64_t cycles = 0;                 // of the warp that runs it
  std::optional<WarpForm> warp = {};       // of one that the lanes of a warp run together
  // What becomes of an element `x` of an input before it is computed with; empty: nothing. Loops
  // are matched without it.
  std::string_view rounding = {};

  Program program() const;
  // The element that `value` is the rounding of, if it is that: an expression that holds one load.
  Expr before_rounding(const Expr& value) const;
};

// By lane: the elements of a fragment that it loads or holds, in the order of its registers.
std::vector<std::vector<FragmentPlace>> fragment_places(const Fragment& fragment, int lanes);
// By lane: the step of an input at which it computes.
std::vector<std::int64_t> own_steps(const Fragment& fragment, int lanes);

// One function per intrinsic, each in the file of its name.
TensorIntrinsic mma_4x4x4_f32();
TensorIntrinsic mma_8x8x4_f32();
TensorIntrinsic dot_4_f32();
TensorIntrinsic mma_16x8x16_f16();
TensorIntrinsic mma_16x8x16_bf16();
TensorIntrinsic mma_16x8x8_tf32();
TensorIntrinsic mma_16x8x32_f16();
TensorIntrinsic mma_16x8x32_bf16();
TensorIntrinsic mma_16x8x16_tf32();

std::span<const TensorIntrinsic> tensor_intrinsics();
const TensorIntrinsic* find_tensor_intrinsic(std::string_view name);

}  // namespace attune::ir

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
//
// An intrinsic of a warpgroup is called by the lanes of four warps together, and its meaning is
// that of one lane too. It reads its inputs from shared memory by itself, after the call: nobody
// may write them, nor touch the results, before the lanes waited for it (intrinsics.h). An input
// is written as the first element of its matrix, the same in all lanes, and two distances: `lead`
// between elements that are 16 bytes of terms apart, and `group` between groups of eight rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/nodes/stmt.h"
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

// A matrix that a warpgroup reads from shared memory.
struct SharedMatrix {
  std::string_view own_step;  // at which a lane computes, of `lane`
  // How far an element lies from the first one, of `step`, of the operand's dimensions by the names
  // that its meaning gives them, and of `lead` and `group`. A sum of parts with one of step and
  // dimensions each.
  std::string_view place;
};

struct WarpgroupForm {
  int lanes = 128;
  Fragment result;  // what each lane holds of the output
  std::vector<SharedMatrix> inputs;
  std::string instruction;     // as assemblers name it
  std::string_view modifiers;  // behind its operands
};

struct TensorIntrinsic {
  std::string name;
  // A program of one stage with a reduction: its inputs are operands, its stage is the output.
  std::string meaning;
  std::vector<IntrinsicOperand> operands;  // the output, then the inputs in the program's order
  std::int64_t cycles = 0;                 // of the warp that runs it
  std::optional<WarpForm> warp = {};       // of one that the lanes of a warp run together
  // What becomes of an element `x` of an input before it is computed with; empty: nothing. Loops
  // are matched without it.
  std::string_view rounding = {};
  std::optional<WarpgroupForm> warpgroup = {};  // of one that a warpgroup runs, asynchronously

  Program program() const;
  // How many neighbouring threads run it together; 1: each for itself.
  int lanes() const { return warp ? warp->lanes : warpgroup ? warpgroup->lanes : 1; }
  // The element that `value` is the rounding of, if it is that: an expression that holds one load.
  Expr before_rounding(const Expr& value) const;
};

// By lane: the elements of a fragment that it loads or holds, in the order of its registers.
std::vector<std::vector<FragmentPlace>> fragment_places(const Fragment& fragment, int lanes);
// By lane: the step of an input at which it computes.
std::vector<std::int64_t> own_steps(const Fragment& fragment, int lanes);

// In numbers: at which step of a matrix each lane computes, and where elements lie.
std::vector<std::int64_t> own_steps(const SharedMatrix& matrix, int lanes);
class MatrixPlaces {
 public:
  // `dimensions` are the names of the operand's in the meaning.
  MatrixPlaces(const SharedMatrix& matrix, std::vector<std::string> dimensions);
  std::int64_t at(std::int64_t step, const std::vector<std::int64_t>& index, std::int64_t lead,
                  std::int64_t group) const;

 private:
  Expr place_;
  std::vector<std::string> dimensions_;
};

// The names that the meaning gives the dimensions of each operand, the output first.
std::vector<std::vector<std::string>> dimension_names(const Program& program);

// One function per intrinsic, each in the file of its name; those of warpgroups differ in how many
// columns they have.
TensorIntrinsic mma_4x4x4_f32();
TensorIntrinsic mma_8x8x4_f32();
TensorIntrinsic dot_4_f32();
TensorIntrinsic mma_16x8x16_f16();
TensorIntrinsic mma_16x8x16_bf16();
TensorIntrinsic mma_16x8x8_tf32();
TensorIntrinsic mma_16x8x32_f16();
TensorIntrinsic mma_16x8x32_bf16();
TensorIntrinsic mma_16x8x16_tf32();
TensorIntrinsic wgmma_f16(int columns);
TensorIntrinsic wgmma_bf16(int columns);
TensorIntrinsic wgmma_tf32(int columns);

// Whether a statement has calls of intrinsics of warpgroups.
bool calls_warpgroups(const Stmt& s);

std::span<const TensorIntrinsic> tensor_intrinsics();
const TensorIntrinsic* find_tensor_intrinsic(std::string_view name);

}  // namespace attune::ir

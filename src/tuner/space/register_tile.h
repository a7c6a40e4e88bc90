// The innermost body of a stage: what its unrolled and vectorised loops put into one basic block,
// in vector registers and vector instructions.
#pragma once

#include "compiler/target/target.h"
#include "tuner/space/spans.h"

namespace attune::space {

struct RegisterTile {
  int body = 0;               // position of the first loop of the body
  int vector_axis = -1;       // the axis of the vectorised loop, or -1
  std::int64_t lanes = 1;     // per instruction
  std::int64_t results = 1;   // vectors computed by one step of the reduction
  std::int64_t kept = 1;      // vectors of the stage's whole region, when it lies in registers
  std::int64_t steps = 1;     // of the reduction within the body
  Spans spans;                // of the body, axes and reduce axes
  bool in_registers = false;  // the stage's results live in registers
};

RegisterTile register_tile(const schedule::StageState& stage, const schedule::StageBounds& bounds,
                           const target::Target& target);

// Instructions that read one access for given spans of the body, for one step of the reduction.
struct OperandLoads {
  std::int64_t vectors = 0;     // contiguous
  std::int64_t broadcasts = 0;  // the same element for all lanes, or a scalar
  std::int64_t gathers = 0;     // lanes from all over
  std::int64_t total() const { return vectors + broadcasts + gathers; }
};
OperandLoads operand_loads(const schedule::Access& access,
                           const std::vector<schedule::LayoutTerm>& layout,
                           const RegisterTile& tile, const Spans& spans);

// Vector registers that the body of a reduction needs: its accumulators, the operand with fewer
// vectors held, the other one streamed.
std::int64_t registers_needed(const schedule::State& state, const schedule::StageState& stage,
                              const RegisterTile& tile);

// The same, but with the operand held that depends on the innermost loop over results: the order of
// the loops asks for that, and compilers follow it for better or worse.
std::int64_t registers_asked_for(const schedule::State& state, const schedule::StageState& stage,
                                 const schedule::StageBounds& bounds, const RegisterTile& tile);

// The layout of the stage that makes a buffer, empty for inputs.
const std::vector<schedule::LayoutTerm>& layout_of(const schedule::State& state,
                                                   const ir::Buffer& buffer);

}  // namespace attune::space

// From nodes to tensor expressions: the program of one node in plain layout. Fused groups are built
// by tasks; this is their simplest case, and what the evaluation of constants needs.
#pragma once

#include "base/result.h"
#include "compiler/ops/op_def.h"

namespace attune::graph {

// Adds the stage (or stages) of a node that is no host or control operator. `inputs` read the
// operands in their logical shape; `role` names the last stage, whose buffer is returned.
Result<ir::Buffer> add_stages(ir::Program& program, const ops::OpCall& call,
                              const std::vector<ops::Read>& inputs, const ops::TensorType& type,
                              const std::string& role);

// Inputs in0, in1, … (those that are present), one output.
Result<ir::Program> program_of(const ops::OpCall& call);

}  // namespace attune::graph

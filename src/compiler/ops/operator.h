// An operator ready to be scheduled: its direct program, what it costs, how exact it is, and the
// other algorithms that compute the same thing.
//
// Stages have fixed names, so that schedules can refer to them by role: `filter` (constant weights
// in canonical order, zero-filled up to whole channel blocks), `pad` (the input with a border),
// `anchor` (the reduction that costs the time) and `output` (the last stage; the anchor itself when
// nothing is fused). What a graph fuses behind the anchor follows as stages without reduction that
// have the extents of the output (`epilogue.0`, …), constants padded to whole blocks come as stages
// `const.X`, and what is fused before it as stages that read the inputs (`prologue.0`, …); their
// axes may have any names. Activations with channels are blocked, [n, ceil(c / B), h, w, B]; what
// the lanes beyond the last channel hold does not matter as long as it is finite: weights are zero
// there.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/nodes/tensor_expr.h"

namespace attune::ops {

// An equivalent program under another name, to be chosen by a trace that begins with
// `algorithm NAME`. Inputs and outputs are those of the direct program.
struct AlgorithmDef {
  std::string name;
  ir::Program program;
  double tolerance;  // as Operator::tolerance
  // Outputs are sums in which the inputs of their neighbours cancel: where a direct form gives an
  // exact zero, this gives rounding noise.
  bool mixes = false;
};

// A parameter in blocked layout that stands for an [n, channels, h, w] tensor.
struct BlockedTensor {
  std::string name;
  std::int64_t channels;
};

struct Operator {
  ir::Program program;
  double flops = 0;      // nominal: 2 per multiplication and addition, border taps counted
  double tolerance = 0;  // largest error, as a fraction of the largest magnitude of the result
  std::vector<BlockedTensor> blocked = {};
  std::vector<AlgorithmDef> alternatives = {};
};

// Appends the stage `output`, the values of `from` in type `type`, and makes it the program's
// result.
ir::Buffer add_output(ir::Program& program, const ir::Buffer& from,
                      const std::vector<ir::Axis>& axes, ir::DType type);
// The index variables of a stage's axes, in order.
std::vector<ir::Expr> index_of(const std::vector<ir::Axis>& axes);

}  // namespace attune::ops

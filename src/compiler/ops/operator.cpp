#include "compiler/ops/operator.h"

namespace attune::ops {

std::vector<ir::Expr> index_of(const std::vector<ir::Axis>& axes) {
  std::vector<ir::Expr> index;
  for (const ir::Axis& axis : axes) index.push_back(ir::axis_var(axis));
  return index;
}

ir::Buffer add_output(ir::Program& program, const ir::Buffer& from,
                      const std::vector<ir::Axis>& axes, ir::DType type) {
  ir::Buffer output =
      ir::add_compute(program, "output", axes, ir::cast(type, ir::load(from, index_of(axes))));
  program.outputs = {output};
  return output;
}

}  // namespace attune::ops

#include "compiler/schedule/rewrite_stage.h"

namespace attune::schedule {

void rewrite_values(StageState& stage, const ir::ExprFn& f) {
  for (ir::Expr& value : stage.stage.values) value = f(value);
  stage.accesses = make_stage_state(stage.stage).accesses;
}

void redirect_reads(StageState& stage, const ir::Buffer& from, const ir::Buffer& to) {
  rewrite_values(stage, [&](const ir::Expr& value) {
    return ir::replace_loads(
        value, from, [&](const std::vector<ir::Expr>& index) { return ir::load(to, index); });
  });
}

ir::Stage copy_stage(const std::string& name, const ir::Buffer& buffer, const ir::Buffer& to,
                     const std::vector<ir::Axis>& axes) {
  std::vector<ir::Expr> index;
  for (const ir::Axis& axis : axes) index.push_back(ir::axis_var(axis));
  return {name, axes, {}, ir::Reduction::None, {ir::load(buffer, index)}, {to}};
}

}  // namespace attune::schedule

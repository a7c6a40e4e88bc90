#include "compiler/lower/launches/warp_call.h"

#include <fmt/format.h>

#include "compiler/ir/nodes/rewrite.h"

namespace attune::lower {

using ir::Expr;

Result<std::int64_t> lane_step(const ir::TensorIntrinsic& intrinsic, std::size_t operand,
                               const Expr& place, const std::string& lane,
                               const ir::Ranges& ranges) {
  const auto own = ir::own_steps(intrinsic.warp->fragments[operand], intrinsic.warp->lanes);
  const auto at = [&](int number) { return ir::substitute(place, {{lane, Expr(number)}}); };
  std::int64_t step = 0;
  for (int number = 0; number < intrinsic.warp->lanes; ++number) {
    const Expr distance = ir::simplify(at(number) - at(0), ranges);
    const auto* elements = ir::as_int(distance);
    const std::int64_t steps = own[static_cast<std::size_t>(number)];
    if (elements && steps == 1 && step == 0) step = *elements;
    if (elements && *elements == steps * step) continue;
    return invalid(
        fmt::format("operand '{}' of intrinsic '{}' does not move with the lanes of a warp as it "
                    "must: lane {} is at step {} of it",
                    intrinsic.operands[operand].name, intrinsic.name, number, steps),
        "fuse a loop of 8 over rows with one of 4 over columns, and bind it to thread.x");
  }
  return step;
}

bool is_rounded(const schedule::State& state, const ir::TensorIntrinsic& intrinsic,
                const Expr& read) {
  const int producer = state.producer_of(ir::as<ir::Load>(read)->buffer);
  if (producer < 0) return false;
  const ir::Stage& stage = state.stages[static_cast<std::size_t>(producer)]->stage;
  if (stage.reduction != ir::Reduction::None || stage.values.size() != 1) return false;
  Expr value = stage.values[0];
  while (const auto* select = ir::as<ir::Select>(value)) {
    if (!ir::equal(select->if_false, ir::zero_of(value.type()))) return false;
    const Expr inside = select->if_true;
    value = inside;
  }
  if (ir::as<ir::Load>(value)) return is_rounded(state, intrinsic, value);
  return static_cast<bool>(intrinsic.before_rounding(value));
}

}  // namespace attune::lower

#include "compiler/schedule/thread_ranges.h"

#include <algorithm>

#include "compiler/schedule/bindings.h"
#include "compiler/schedule/bounds.h"

namespace attune::schedule {

void ThreadRanges::add(const StageState& stage, int loop, std::int64_t extent) {
  const std::string variable = loop_variable(stage, loop);
  ranges_ = ranges_.with(variable, ir::Interval::extent(extent));
  const Iter& iter = stage.iters[loop];
  if (iter.kind == ir::LoopKind::Bound && !is_block_axis(iter.axis)) threads_.insert(variable);
}

bool ThreadRanges::collect(const ir::Expr& e, std::int64_t factor, Parts& parts) const {
  const auto variables = ir::free_vars(e);
  const auto by_thread = [&](const std::string& name) { return threads_.count(name) > 0; };
  if (std::none_of(variables.begin(), variables.end(), by_thread)) {
    const auto linear = ir::linear_of(e);
    if (linear) parts.kept = ir::add(parts.kept, *linear, factor);
    return linear.has_value();
  }
  if (std::all_of(variables.begin(), variables.end(), by_thread)) {
    const ir::Interval values = ir::bounds_of(e, ranges_) * factor;
    parts.differs = parts.differs + values;
    return values.is_bounded();
  }
  const auto* sum = ir::as<ir::Binary>(e);
  if (!sum) return false;
  if (sum->op == ir::BinOp::Add || sum->op == ir::BinOp::Sub) {
    return collect(sum->lhs, factor, parts) &&
           collect(sum->rhs, sum->op == ir::BinOp::Add ? factor : -factor, parts);
  }
  const auto* by = sum->op == ir::BinOp::Mul ? ir::as_int(sum->rhs) : nullptr;
  return by && collect(sum->lhs, factor * *by, parts);
}

Range ThreadRanges::widen(const Range& range, const ir::Expr& begin, std::int64_t whole) const {
  // As it is written: a launch may have more threads than the loops of this read, and what is known
  // of theirs, as that a loop of one iteration is at 0, does not hold for the others.
  const auto variables = ir::free_vars(begin);
  const bool same = std::none_of(variables.begin(), variables.end(),
                                 [&](const auto& name) { return threads_.count(name) > 0; });
  if (same && range.extent < whole) return range;
  Parts parts;
  const bool summed = collect(ir::simplify(begin, ranges_), 1, parts);
  const std::int64_t wide = range.extent + parts.differs.high - parts.differs.low;
  if (!summed || wide >= whole) return {{}, {}, whole};
  parts.kept.constant += parts.differs.low;
  return {{}, parts.kept, wide};
}

}  // namespace attune::schedule

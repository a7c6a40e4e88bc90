#include "compiler/lower/beyond_ends.h"

#include <algorithm>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/lower/conditions.h"

namespace attune::lower {

Beyond beyond_ends(const schedule::State& state, int stage) {
  const schedule::StageState& s = *state.stages[static_cast<std::size_t>(stage)];
  const bool kept = s.scope == ir::Scope::Shared || s.scope == ir::Scope::Register;
  if (s.at_root() || !kept || s.stage.outputs.size() != 1 || s.tensorized >= 0) {
    return Beyond::Guarded;
  }
  const auto is_global = [&](const schedule::Access& access) {
    const int producer = state.producer_of(access.buffer);
    return producer < 0 || state.stages[static_cast<std::size_t>(producer)]->at_root();
  };
  const auto& reads = s.accesses;
  const bool reduces = s.stage.reduction != ir::Reduction::None;
  if (!reduces && std::all_of(reads.begin(), reads.end(), is_global)) return Beyond::Zero;
  const bool own =
      s.scope == ir::Scope::Register && std::none_of(reads.begin(), reads.end(), is_global);
  return own ? Beyond::Free : Beyond::Guarded;
}

bool reads_inside(const ir::Expr& value, const schedule::State& state,
                  const std::vector<schedule::StageBounds>& bounds, const ir::Ranges& ranges) {
  bool inside = true;
  ir::visit(value, [&](const ir::Expr& e) {
    const auto* load = ir::as<ir::Load>(e);
    const int producer = load ? state.producer_of(load->buffer) : -1;
    if (producer < 0) return;
    const schedule::StageBounds& computed = bounds[static_cast<std::size_t>(producer)];
    for (std::size_t d = 0; d < load->index.size() && inside; ++d) {
      const ir::Expr at = ir::simplify(load->index[d] - computed.min[d], ranges);
      inside = ir::prove(at >= ir::Expr(0), ranges) &&
               ir::prove(at < ir::Expr(computed.axes[d]), ranges);
    }
  });
  return inside;
}

namespace {

// Where the axes of all that is multiplied end; empty when it is no product of two loads.
std::vector<ir::Expr> ends_of_factors(const ir::Expr& value, const ir::Ranges& ranges) {
  const auto* product = ir::as<ir::Binary>(value);
  if (!product || product->op != ir::BinOp::Mul) return {};
  std::vector<ir::Expr> ends;
  for (const ir::Expr& factor : {product->lhs, product->rhs}) {
    const ir::Expr* at = &factor;
    while (const auto* conversion = ir::as<ir::Cast>(*at)) at = &conversion->value;
    const auto* load = ir::as<ir::Load>(*at);
    if (!load) return {};
    for (std::size_t d = 0; d < load->index.size(); ++d) {
      ends.push_back(ir::simplify(load->index[d] < ir::Expr(load->buffer->shape[d]), ranges));
    }
  }
  return ends;
}

}  // namespace

std::optional<ir::Expr> product_beyond(const ir::Expr& value, ir::Reduction reduction,
                                       std::vector<ir::Expr>& guards, const ir::Ranges& ranges) {
  if (reduction != ir::Reduction::Sum) return {};
  std::vector<ir::Expr> conditions;
  ir::Expr product = value;
  while (const auto* select = ir::as<ir::Select>(product)) {
    if (!ir::equal(select->if_false, ir::zero_of(value.type()))) return {};
    for (const ir::Expr& part : conjuncts(select->condition)) conditions.push_back(part);
    product = select->if_true;
  }
  const std::vector<ir::Expr> ends = ends_of_factors(product, ranges);
  if (ends.empty()) return {};
  const auto is_end = [&](const ir::Expr& condition) {
    const ir::Expr wanted = ir::simplify(condition, ranges);
    return std::any_of(ends.begin(), ends.end(),
                       [&](const ir::Expr& end) { return ir::equal(end, wanted); });
  };
  std::erase_if(conditions, is_end);
  std::erase_if(guards, is_end);
  return zero_unless(conditions, product);
}

}  // namespace attune::lower

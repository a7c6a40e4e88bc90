#include <algorithm>

#include "base/match.h"
#include "compiler/ir/nodes/rewrite.h"
#include "tuner/cost_model/stage_cost.h"

namespace attune::cost_model {
namespace {

double math_cost(ir::MathFn fn) {
  switch (fn) {
    case ir::MathFn::Neg:
    case ir::MathFn::Not:
    case ir::MathFn::BitNot:
    case ir::MathFn::Abs:
    case ir::MathFn::Fma:
    case ir::MathFn::Floor:
    case ir::MathFn::Ceil:
    case ir::MathFn::Round:
    case ir::MathFn::Trunc:
    case ir::MathFn::IsNan:
      return 1;
    case ir::MathFn::Bitcast:
      return 0;
    case ir::MathFn::Sign:
    case ir::MathFn::IsInf:
      return 2;
    case ir::MathFn::Sqrt:
    case ir::MathFn::Rsqrt:
      return 8;
    default:
      return 20;  // polynomials: exp, log, trigonometry, erf …
  }
}

double sum_of(const std::vector<ir::Expr>& parts) {
  double sum = 0;
  for (const ir::Expr& part : parts) sum += arithmetic(part);
  return sum;
}

bool reads_memory(const ir::Expr& e) {
  bool found = false;
  ir::visit(e, [&](const ir::Expr& part) { found |= ir::as<ir::Load>(part) != nullptr; });
  return found;
}

}  // namespace

double arithmetic(const ir::Expr& value) {
  return std::visit(Match{
                        [](const ir::Binary& b) {
                          const double own =
                              b.op == ir::BinOp::Div || b.op == ir::BinOp::Mod ? 8 : 1;
                          return own + arithmetic(b.lhs) + arithmetic(b.rhs);
                        },
                        [](const ir::Math& m) { return math_cost(m.fn) + sum_of(m.args); },
                        // On indices alone: loops are cut or written out until one side is left.
                        [](const ir::Select& s) {
                          return std::max(arithmetic(s.if_true), arithmetic(s.if_false)) +
                                 (reads_memory(s.condition) ? 1 : 0);
                        },
                        [](const ir::Cast& c) { return 1 + arithmetic(c.value); },
                        [](const ir::Broadcast& b) { return arithmetic(b.value); },
                        [](const ir::VectorReduce& r) { return 4 + arithmetic(r.value); },
                        [](const ir::Opaque& o) { return 4 + sum_of(o.args); },
                        [](const auto&) { return 0.0; },
                    },
                    value->kind);
}

}  // namespace attune::cost_model

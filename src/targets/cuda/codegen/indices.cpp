// The width of index arithmetic. Devices compute 64 bits in several instructions.
#include <fmt/format.h>

#include "targets/cuda/codegen/launch_printer.h"

namespace attune::cuda {

using ir::BinOp;

namespace {

bool fits(const std::optional<codegen::Interval>& range) {
  // One more must fit as well: where a loop ends.
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 2;
  return range && range->min >= -kMost && range->max <= kMost;
}

}  // namespace

bool LaunchPrinter::is_narrow(const Expr& e) const {
  if (e.type() != ir::kIndex || !fits(codegen::range_of(e, facts_))) return false;
  if (ir::as<ir::IntImm>(e) || ir::as<ir::Var>(e)) return true;
  if (const auto* x = ir::as<ir::Select>(e)) return is_narrow(x->if_true) && is_narrow(x->if_false);
  const auto* x = ir::as<ir::Binary>(e);
  return x && x->op <= BinOp::Max && is_narrow(x->lhs) && is_narrow(x->rhs);
}

std::string LaunchPrinter::variable_type(DType type, const codegen::VarFacts& facts) const {
  return type == ir::kIndex && fits(facts.range) ? "int" : Printer::variable_type(type, facts);
}

std::string LaunchPrinter::scalar_division(const Expr& e) {
  const auto& x = *ir::as<ir::Binary>(e);
  const std::int64_t* divisor = ir::as_int(x.rhs);
  if (!is_narrow(e) || !divisor || *divisor <= 0) {
    if (!is_narrow(e)) return Printer::scalar_division(e);
    const std::string a = scalar(x.lhs);
    return fmt::format("at_{}_i32({}, {})", x.op == BinOp::Div ? "div" : "mod", a, scalar(x.rhs));
  }
  const bool want_quotient = x.op == BinOp::Div;
  const std::string a = scalar(x.lhs);
  if ((*divisor & (*divisor - 1)) == 0) {
    const int shift = __builtin_ctzll(static_cast<unsigned long long>(*divisor));
    return want_quotient ? fmt::format("({} >> {})", a, shift)
                         : fmt::format("({} & {})", a, *divisor - 1);
  }
  if (codegen::range_of(x.lhs, facts_)->min >= 0) {
    return fmt::format("at_{}({}, {})", want_quotient ? "quotient" : "remainder", a, *divisor);
  }
  return fmt::format("at_{}_i32({}, {})", want_quotient ? "div" : "mod", a, *divisor);
}

}  // namespace attune::cuda

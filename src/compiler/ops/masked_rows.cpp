#include "compiler/ops/masked_rows.h"

#include <limits>

namespace attune::ops {
ir::Expr finite_greatest(const ir::Expr& greatest) {
  const ir::DType type = greatest.type();
  const double lowest = type.bits == 64 ? std::numeric_limits<double>::lowest()
                                        : double{std::numeric_limits<float>::lowest()};
  return ir::max(greatest, ir::float_imm(lowest, type));
}

ir::Expr positive_sum(const ir::Expr& sum) {
  constexpr double kNothingBesideOne = 1e-30;
  return sum + ir::float_imm(kNothingBesideOne, sum.type());
}

}  // namespace attune::ops

#include "tuner/templates/launches/matrix_units.h"

#include <algorithm>

namespace attune::templates {
namespace {

// What a factor reads, and whether it rounds that as the intrinsic would.
struct Factor {
  const ir::Load* load = nullptr;
  bool rounded = false;
};

Factor factor_of(const ir::Expr& value, const ir::TensorIntrinsic& intrinsic) {
  const auto* conversion = ir::as<ir::Cast>(value);
  const ir::Expr& inner = conversion ? conversion->value : value;
  if (const auto* load = ir::as<ir::Load>(inner)) return {load, false};
  const ir::Expr before = intrinsic.before_rounding(inner);
  return {before ? ir::as<ir::Load>(before) : nullptr, true};
}

bool multiplies(const ir::Stage& stage, const ir::TensorIntrinsic& intrinsic) {
  const auto* product = ir::as<ir::Binary>(stage.values[0]);
  if (!product || product->op != ir::BinOp::Mul || stage.values[0].type() != ir::kF32) return false;
  const ir::Program meaning = intrinsic.program();
  bool rounded = false;
  for (const ir::Expr* side : {&product->lhs, &product->rhs}) {
    const Factor factor = factor_of(*side, intrinsic);
    if (!factor.load || factor.load->buffer->type != meaning.inputs[0].buffer->type) return false;
    rounded |= factor.rounded;
  }
  // What is rounded ahead is no longer seen to be; one factor that is says that both may be.
  return intrinsic.rounding.empty() || rounded;
}

}  // namespace

bool copies_in_bulk(const target::LaunchFacts& device) {
  return std::any_of(device.matrix_units.begin(), device.matrix_units.end(),
                     [](const target::MatrixUnit& unit) {
                       const auto* intrinsic = ir::find_tensor_intrinsic(unit.intrinsic);
                       return intrinsic && intrinsic->warpgroup;
                     });
}

std::optional<MatrixUse> matrix_use(const ir::Stage& stage, const target::LaunchFacts& device) {
  if (stage.reduction != ir::Reduction::Sum || stage.values.size() != 1) return std::nullopt;
  for (const target::MatrixUnit& unit : device.matrix_units) {
    const ir::TensorIntrinsic* intrinsic = ir::find_tensor_intrinsic(unit.intrinsic);
    if (!intrinsic || !intrinsic->warp || intrinsic->warp->lanes != device.warp) continue;
    if (!multiplies(stage, *intrinsic)) continue;
    const std::int64_t terms = intrinsic->program().stages[0].reduce_axes[0].extent;
    return MatrixUse{intrinsic, terms, unit.fmas_per_cycle};
  }
  return std::nullopt;
}

}  // namespace attune::templates

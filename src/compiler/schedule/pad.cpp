// pad: a reduction over tiles that are all whole. What lies beyond the extents is computed from
// zeros, and read by nobody.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"
#include "compiler/schedule/extents.h"
#include "compiler/schedule/primitives.h"
#include "compiler/schedule/rewrite_stage.h"

namespace attune::schedule {
namespace {

constexpr std::int64_t kMost = 1 << 20;

// Whether an expression of one load is zero where the load is: conversions, and what intrinsics
// round by.
bool keeps_zero(const ir::Expr& value) {
  if (ir::as<ir::Load>(value)) return true;
  if (const auto* conversion = ir::as<ir::Cast>(value)) return keeps_zero(conversion->value);
  const auto known = ir::tensor_intrinsics();
  return std::any_of(known.begin(), known.end(), [&](const ir::TensorIntrinsic& intrinsic) {
    return static_cast<bool>(intrinsic.before_rounding(value));
  });
}

bool is_product(const ir::Stage& stage) {
  const auto* product = ir::as<ir::Binary>(stage.values[0]);
  return stage.reduction == ir::Reduction::Sum && product && product->op == ir::BinOp::Mul &&
         keeps_zero(product->lhs) && keeps_zero(product->rhs);
}

// The axis of a stage that a step pads.
class Padding {
 public:
  Padding(State& state, int index, int axis, std::int64_t extent)
      : state_(state), index_(index), axis_(axis) {
    const ir::Stage& stage = state.stages[index]->stage;
    for (const auto* axes : {&stage.axes, &stage.reduce_axes}) {
      for (const ir::Axis& each : *axes) extents_.push_back(each.extent);
    }
    extents_[static_cast<std::size_t>(axis)] = extent;
    reduce_ = axis >= static_cast<int>(stage.axes.size());
  }

  Status apply() {
    for (const Access& access : std::vector(state_.stages[index_]->accesses)) {
      ATTUNE_RETURN_IF_ERROR(pad_source(access));
    }
    ir::Stage stage = state_.stages[index_]->stage;
    const auto at = static_cast<std::size_t>(axis_);
    if (reduce_) {
      stage.reduce_axes[at - stage.axes.size()].extent = extents_[at];
      state_.stages[index_] = std::make_shared<StageState>(make_stage_state(std::move(stage)));
      return {};
    }
    stage.axes[at].extent = extents_[at];
    replace(index_, std::move(stage));
    return {};
  }

 private:
  Error wrong(const std::string& why) const {
    return invalid(
        fmt::format("stage '{}' cannot be padded: {}", state_.stages[index_]->stage.name, why),
        "pad a sum of products of stages that nobody else reads, before its other steps");
  }

  bool moves(const AccessDim& dim) const {
    return std::any_of(dim.terms.begin(), dim.terms.end(),
                       [&](const auto& term) { return term.first == axis_; });
  }

  // How long a dimension must be for all that is read of it.
  std::int64_t needed(const AccessDim& dim) const {
    std::int64_t last = dim.constant;
    for (const auto& [axis, coefficient] : dim.terms) {
      last +=
          std::max<std::int64_t>(0, coefficient) * (extents_[static_cast<std::size_t>(axis)] - 1);
    }
    return last + 1;
  }

  // What is read beyond its end becomes zeros.
  Status pad_source(const Access& access) {
    const auto& name = access.buffer->name;
    const bool linear = std::all_of(access.dims.begin(), access.dims.end(),
                                    [](const AccessDim& dim) { return dim.linear; });
    if (!linear) return wrong(fmt::format("'{}' is not read at sums of its axes", name));
    const bool moved = std::any_of(access.dims.begin(), access.dims.end(),
                                   [&](const AccessDim& dim) { return moves(dim); });
    if (!moved) {
      return reduce_ ? wrong(fmt::format("'{}' does not move with the axis", name)) : Status();
    }
    const int source = state_.producer_of(access.buffer);
    if (source < 0) return wrong(fmt::format("'{}' is an input", name));
    const auto held = state_.stages[source];
    if (state_.is_output(source) || !held->untouched() || held->stage.outputs.size() != 1 ||
        held->stage.reduction != ir::Reduction::None ||
        state_.consumers_of(source) != std::vector<int>{index_}) {
      return wrong(fmt::format("'{}' has other readers or steps", name));
    }
    ir::Stage longer = held->stage;
    ir::Expr inside;
    for (std::size_t d = 0; d < access.dims.size(); ++d) {
      ir::Axis& axis = longer.axes[d];
      const std::int64_t extent = needed(access.dims[d]);
      if (extent <= axis.extent) continue;
      const ir::Expr part = ir::axis_var(axis) < ir::Expr(axis.extent);
      inside = inside ? inside && part : part;
      axis.extent = extent;
    }
    if (!inside) return {};
    ir::Expr& value = longer.values[0];
    value = ir::select(inside, value, ir::zero_of(value.type()));
    replace(source, std::move(longer));
    return {};
  }

  // Another stage in place of one, with a buffer of its own.
  void replace(int at, ir::Stage stage) {
    const ir::Buffer before = stage.outputs[0];
    std::vector<std::int64_t> shape;
    for (const ir::Axis& axis : stage.axes) shape.push_back(axis.extent);
    const ir::Buffer after = ir::make_buffer(before->name, before->type, shape);
    for (const int consumer : state_.consumers_of(at)) {
      redirect_reads(state_.edit(consumer), before, after);
    }
    stage.outputs = {after};
    state_.stages[at] = std::make_shared<StageState>(make_stage_state(std::move(stage)));
  }

  State& state_;
  const int index_, axis_;
  Extents extents_;  // of the stage's axes, once it is padded
  bool reduce_ = false;
};

}  // namespace

Status apply_step(State& state, const Pad& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  ATTUNE_RETURN_IF_ERROR(require_private(state, index, "its extents"));
  const StageState& stage = *state.stages[index];
  int found = -1;
  std::int64_t extent = 0;
  std::string names;
  for (std::size_t i = 0; i < stage.stage.axes.size() + stage.stage.reduce_axes.size(); ++i) {
    const std::size_t axes = stage.stage.axes.size();
    const ir::Axis& axis = i < axes ? stage.stage.axes[i] : stage.stage.reduce_axes[i - axes];
    names += (names.empty() ? "" : ", ") + axis.name;
    if (axis.name == step.axis) found = static_cast<int>(i), extent = axis.extent;
  }
  if (found < 0) {
    return invalid(fmt::format("stage '{}' has no axis '{}'", step.stage, step.axis),
                   "its axes are " + names);
  }
  if (step.multiple < 1 || step.multiple > kMost) {
    return invalid(fmt::format("axis '{}' of stage '{}' cannot be padded to a multiple of {}",
                               step.axis, step.stage, step.multiple),
                   fmt::format("choose a number between 1 and {}", kMost));
  }
  if (!stage.untouched() || !is_product(stage.stage)) {
    return invalid(
        fmt::format("stage '{}' has other steps already, or is no sum of products", step.stage),
        "pad a sum of products of two tensors before its other steps");
  }
  const std::int64_t padded = (extent + step.multiple - 1) / step.multiple * step.multiple;
  if (padded == extent) return {};
  return Padding(state, index, found, padded).apply();
}

}  // namespace attune::schedule

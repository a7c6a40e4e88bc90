// Normalisations.
#include <fmt/format.h>

#include <numeric>

#include "compiler/frontend/onnx/converters.h"

namespace attune::onnx {
namespace {

Attributes over(std::vector<std::int64_t> axes, bool keep) {
  return {{"axes", std::move(axes)}, {"keepdims", std::int64_t{keep}}};
}

// Statistics of the batch itself, and the running ones that follow from them.
Converted train_batch(NodeContext& node, double epsilon) {
  const ValueId x = node.input(0);
  const double momentum = node.real("momentum", 0.9);
  std::vector<std::int64_t> axes{0};
  for (std::int64_t d = 2; d < node.rank(x); ++d) axes.push_back(d);
  std::vector<std::int64_t> column(static_cast<std::size_t>(node.rank(x)), 1);
  if (column.size() < 2) return unsupported("training mode needs two dimensions or more");
  column[1] = node.shape(x)[1];
  const ValueId mean = node.make("reduce_mean", {x}, over(axes, false));
  const ValueId spread = node.make("reshape", {mean}, {{"shape", column}});
  const ValueId distance = node.make("sub", {x, spread});
  const ValueId variance =
      node.make("reduce_mean", {node.make("mul", {distance, distance})}, over(axes, false));
  const ValueId y = node.make("batch_norm", {x, node.input(1), node.input(2), mean, variance},
                              {{"epsilon", epsilon}});
  if (node.failed()) return std::vector{kNoValue};
  const auto running = [&](ValueId old, ValueId fresh) {
    const ValueId kept = node.make("mul", {old, node.scalar(node.dtype(old), momentum)});
    const ValueId added = node.make("mul", {fresh, node.scalar(node.dtype(fresh), 1 - momentum)});
    return node.make("add", {kept, added});
  };
  return std::vector{y, running(node.input(3), mean), running(node.input(4), variance)};
}

Result<ValueId> as_f32(NodeContext& node, ValueId value) {
  return node.dtype(value) == ir::kF64 ? Result<ValueId>(value) : node.cast(value, ir::kF32);
}

}  // namespace

Converted convert_batch_normalization(NodeContext& node) {
  const double epsilon = node.real("epsilon", 1e-5);
  if (!node.flag("spatial", true)) return unsupported("spatial = 0 is not supported");
  if (node.flag("training_mode")) return train_batch(node, epsilon);
  return one(node.add("batch_norm",
                      {node.input(0), node.input(1), node.input(2), node.input(3), node.input(4)},
                      {{"epsilon", epsilon}}));
}

Converted convert_group_normalization(NodeContext& node) {
  const ValueId x = node.input(0);
  const std::int64_t groups = node.integer("num_groups", 0);
  const double epsilon = node.real("epsilon", 1e-5);
  if (node.rank(x) < 2 || groups < 1 || node.shape(x)[1] % groups != 0) {
    return invalid(
        fmt::format("{} does not divide into {} groups", ops::to_string(node.type(x)), groups));
  }
  ValueId scale = node.input(1), bias = node.input(2);
  const std::int64_t channels = node.shape(x)[1];
  // Before operator set 21 there is one scale per group.
  if (node.opset() < 21 && node.type(scale).elements() == groups && groups != channels) {
    const std::vector<std::int64_t> wide{groups, channels / groups};
    for (ValueId* parameter : {&scale, &bias}) {
      ATTUNE_ASSIGN(*parameter, node.reshape(*parameter, {groups, 1}));
      ATTUNE_ASSIGN(*parameter, node.add("expand", {*parameter}, {{"shape", wide}}));
      ATTUNE_ASSIGN(*parameter, node.reshape(*parameter, {channels}));
    }
  }
  return one(node.add("group_norm", {x, scale, bias}, {{"groups", groups}, {"epsilon", epsilon}}));
}

Converted convert_instance_normalization(NodeContext& node) {
  const ValueId x = node.input(0);
  if (node.rank(x) < 2) {
    return invalid(fmt::format("{} has no channels", ops::to_string(node.type(x))));
  }
  return one(node.add("group_norm", {x, node.input(1), node.input(2)},
                      {{"groups", node.shape(x)[1]}, {"epsilon", node.real("epsilon", 1e-5)}}));
}

Converted convert_layer_normalization(NodeContext& node) {
  const ValueId x = node.input(0);
  const double epsilon = node.real("epsilon", 1e-5);
  ATTUNE_ASSIGN(const std::int64_t axis, node.axis(node.integer("axis", -1), node.rank(x)));
  std::vector<ValueId> operands{x, node.input(1)};
  if (node.has(2)) operands.push_back(node.input(2));
  ATTUNE_ASSIGN(const ValueId y, node.add("layer_norm", std::move(operands),
                                          {{"axis", axis}, {"epsilon", epsilon}}));
  std::vector<ValueId> results{y};
  if (!node.wants_output(1) && !node.wants_output(2)) return results;
  std::vector<std::int64_t> axes(static_cast<std::size_t>(node.rank(x) - axis));
  std::iota(axes.begin(), axes.end(), axis);
  ATTUNE_ASSIGN(const ValueId wide, as_f32(node, x));
  const ValueId mean = node.make("reduce_mean", {wide}, over(axes, true));
  const ValueId distance = node.make("sub", {wide, mean});
  const ValueId variance =
      node.make("reduce_mean", {node.make("mul", {distance, distance})}, over(axes, true));
  const ValueId bias = node.scalar(node.dtype(wide), epsilon);
  const ValueId deviation = node.make("sqrt", {node.make("add", {variance, bias})});
  results.push_back(mean);
  results.push_back(node.make("reciprocal", {deviation}));
  return results;
}

Converted convert_rms_normalization(NodeContext& node) {
  const ValueId x = node.input(0);
  const double epsilon = node.real("epsilon", 1e-5);
  ATTUNE_ASSIGN(const std::int64_t axis, node.axis(node.integer("axis", -1), node.rank(x)));
  return one(node.add("rms_norm", {x, node.input(1)}, {{"axis", axis}, {"epsilon", epsilon}}));
}

Converted convert_lp_normalization(NodeContext& node) {
  const ValueId x = node.input(0);
  const std::int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2) return invalid(fmt::format("p is {}, must be 1 or 2", p));
  ATTUNE_ASSIGN(const std::int64_t axis, node.axis(node.integer("axis", -1), node.rank(x)));
  const ValueId norm = node.make(p == 1 ? "reduce_l1" : "reduce_l2", {x}, over({axis}, true));
  if (node.failed()) return std::vector{kNoValue};
  // Rows of zeros stay zeros.
  const ValueId is_zero = node.make("equal", {norm, node.scalar(node.dtype(x), 0)});
  const ValueId divisor = node.make("where", {is_zero, node.scalar(node.dtype(x), 1), norm});
  return std::vector{node.make("div", {x, divisor})};
}

Converted convert_lrn(NodeContext& node) {
  return one(node.add("lrn", {node.input(0)},
                      {{"size", node.integer("size", 0)},
                       {"alpha", node.real("alpha", 1e-4)},
                       {"beta", node.real("beta", 0.75)},
                       {"bias", node.real("bias", 1)}}));
}

// (x - mean) / (deviation + 1e-9).
Converted convert_mean_variance_normalization(NodeContext& node) {
  const ValueId x = node.input(0);
  ATTUNE_ASSIGN(
      const std::vector<std::int64_t> axes,
      node.axes(node.integers("axes").value_or(std::vector<std::int64_t>{0, 2, 3}), node.rank(x)));
  const ValueId mean = node.make("reduce_mean", {x}, over(axes, true));
  const ValueId distance = node.make("sub", {x, mean});
  const ValueId variance =
      node.make("reduce_mean", {node.make("mul", {distance, distance})}, over(axes, true));
  const ValueId deviation = node.make("sqrt", {variance});
  const ValueId divisor = node.make("add", {deviation, node.scalar(node.dtype(x), 1e-9)});
  return std::vector{node.make("div", {distance, divisor})};
}

}  // namespace attune::onnx

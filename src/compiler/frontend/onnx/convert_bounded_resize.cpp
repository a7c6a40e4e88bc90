// Resize to sizes that are known at run time, and at most so large: each axis by places that are
// computed as the standard writes them, and gathered.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/onnx/open_resize.h"

namespace attune::onnx {
namespace {

class BoundedResize {
 public:
  BoundedResize(NodeContext& node, const ResizeRules& rules) : node_(node), rules_(rules) {}

  // The value with this dimension resized to `size`, one number.
  Result<ValueId> along(ValueId value, std::int64_t dimension, ValueId size, const Bound& bound) {
    const auto before =
        static_cast<double>(node_.shape(value)[static_cast<std::size_t>(dimension)]);
    ATTUNE_ASSIGN(const TensorType row, bounded_type(node_, ir::kF64, {bound}));
    ATTUNE_ASSIGN(const ValueId scalar, node_.reshape(size, {}));
    ATTUNE_ASSIGN(const ValueId after, node_.cast(scalar, ir::kF64));
    ATTUNE_ASSIGN(const ValueId steps,
                  add_on_host(node_, "Range", {number(0), after, number(1)}, {}, row));
    ValueId places = places_of(steps, after, before);
    if (rules_.mode == "nearest") {
      return gather(value, dimension, clamped(nearest(places), before - 1), row);
    }
    places = clamped(places, before - 1);
    const ValueId low = node_.make("floor", {places});
    const ValueId high =
        node_.make("min", {node_.make("add", {low, number(1)}), number(before - 1)});
    const ValueId part = node_.make("sub", {places, low});
    ATTUNE_ASSIGN(const ValueId first, gather(value, dimension, low, row));
    ATTUNE_ASSIGN(const ValueId second, gather(value, dimension, high, row));
    ATTUNE_ASSIGN(const ValueId weight, weights(part, value, dimension, row));
    const ValueId more = node_.make("mul", {node_.make("sub", {second, first}), weight});
    return node_.add("add", {first, more});
  }

 private:
  ValueId number(double value) { return node_.scalar(ir::kF64, value); }

  // Where in the input each element of the result lies.
  ValueId places_of(ValueId steps, ValueId after, double before) {
    const std::string& rule = rules_.coordinates;
    if (rule == "align_corners") {
      const ValueId gaps = node_.make("max", {node_.make("sub", {after, number(1)}), number(1)});
      return node_.make("mul", {steps, node_.make("div", {number(before - 1), gaps})});
    }
    const ValueId step = node_.make("div", {number(before), after});
    if (rule == "asymmetric") return node_.make("mul", {steps, step});
    const ValueId middle = node_.make("add", {steps, number(0.5)});
    const ValueId place = node_.make("sub", {node_.make("mul", {middle, step}), number(0.5)});
    if (rule != "pytorch_half_pixel") return place;
    const ValueId several = node_.make("cast", {node_.make("greater", {after, number(1)})},
                                       {{"to", ir::to_string(ir::kF64)}});
    return node_.make("mul", {place, several});
  }

  ValueId nearest(ValueId places) {
    if (rules_.nearest == "floor" || rules_.nearest == "ceil") {
      return node_.make(rules_.nearest, {places});
    }
    const bool down = rules_.nearest == "round_prefer_floor";
    return node_.make(down ? "ceil" : "floor",
                      {node_.make(down ? "sub" : "add", {places, number(0.5)})});
  }

  ValueId clamped(ValueId places, double last) {
    return node_.make("min", {node_.make("max", {places, number(0)}), number(last)});
  }

  // The type of `value` with the extent of `row` in one dimension.
  static TensorType resized(TensorType type, std::int64_t dimension, const TensorType& row) {
    type.extents.resize(type.shape.size(), ops::kConstantExtent);
    type.shape[static_cast<std::size_t>(dimension)] = row.shape[0];
    type.extents[static_cast<std::size_t>(dimension)] = row.extents[0];
    return type;
  }

  Result<ValueId> gather(ValueId value, std::int64_t dimension, ValueId places,
                         const TensorType& row) {
    const ValueId whole = node_.make("cast", {places}, {{"to", ir::to_string(ir::kI64)}});
    return add_on_host(node_, "Gather", {value, whole}, {{"axis", dimension}},
                       resized(node_.type(value), dimension, row));
  }

  // One for each place, to be multiplied with elements that have further dimensions behind.
  Result<ValueId> weights(ValueId part, ValueId value, std::int64_t dimension, TensorType row) {
    row.dtype = node_.dtype(value);
    const ValueId weight = node_.make("cast", {part}, {{"to", ir::to_string(row.dtype)}});
    Extents axes;
    for (std::int64_t i = dimension + 1; i < node_.rank(value); ++i) {
      axes.push_back(static_cast<std::int64_t>(axes.size()) + 1);
      row.shape.push_back(1);
      row.extents.push_back(ops::kConstantExtent);
    }
    if (axes.empty()) return weight;
    return add_on_host(node_, "Unsqueeze", {weight}, {{"axes", axes}}, row);
  }

  NodeContext& node_;
  const ResizeRules& rules_;
};

}  // namespace

bool can_be_bounded(const ResizeRules& rules) {
  const auto known = [](const std::string& word, std::initializer_list<const char*> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  return known(rules.mode, {"nearest", "linear"}) && !rules.antialias &&
         known(rules.coordinates,
               {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"}) &&
         rules.nearest != "simple";
}

Result<ValueId> resize_to_bounded(NodeContext& node, ValueId value, const ResizeRules& rules,
                                  const Extents& axes, ValueId sizes, const Bounds& bounds) {
  if (bounds.size() != axes.size()) {
    return invalid(fmt::format("{} sizes for {} dimensions", bounds.size(), axes.size()));
  }
  BoundedResize resize(node, rules);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t now = node.shape(value)[static_cast<std::size_t>(axes[i])];
    if (bounds[i].is_exact() && bounds[i].size() == now) continue;
    if (now == 0) return invalid(fmt::format("dimension {} is empty", axes[i]));
    ATTUNE_ASSIGN(const ValueId size, slice_axis(node, sizes, 0, static_cast<std::int64_t>(i), 1));
    ATTUNE_ASSIGN(value, resize.along(value, axes[i], size, bounds[i]));
  }
  return value;
}

}  // namespace attune::onnx

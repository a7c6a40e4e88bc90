// The tables of a resize whose scales or region are known at run time only: for each element of one
// axis the places it is made of, their weights, and whether it lies outside of the tensor.
//   {mode, coordinates, nearest, cubic_a, exclude_outside, antialias: as in ONNX's Resize;
//    size, result: elements of the axis before and after; first, taps: of the weights;
//    scale: unless the first operand has it; number, axes: of the axis among those resized}
//   operands: scales [axes] or absent, roi [2 * axes] or absent
#include "compiler/ops/definitions/indexing.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using Types = Result<std::vector<TensorType>>;
using Index = std::vector<ir::Expr>;

ir::Expr real(double value) { return ir::float_imm(value, ir::kF64); }

ir::Expr ceil_of(const ir::Expr& x) { return ir::math(ir::MathFn::Ceil, {x}); }

struct Axis {
  const OpCall& call;
  ir::Expr scale, roi_start, roi_end;

  Axis(const OpCall& from, const std::vector<Read>& inputs) : call(from) {
    const std::int64_t number = call.integer("number");
    const auto read = [&](std::size_t input, std::int64_t at) {
      return ir::cast(ir::kF64, inputs[input]({ir::Expr(at)}));
    };
    scale = call.has(0) ? read(0, number) : real(call.real("scale"));
    roi_start = call.has(1) ? read(1, number) : real(0);
    roi_end = call.has(1) ? read(1, number + call.integer("axes")) : real(1);
  }

  double size() const { return static_cast<double>(call.integer("size")); }
  double result() const { return static_cast<double>(call.integer("result")); }

  // Where output element i lies between the input elements.
  ir::Expr place(const ir::Expr& index) const {
    const std::string& mode = call.word("coordinates");
    const ir::Expr i = ir::cast(ir::kF64, index), length = scale * real(size());
    const ir::Expr half_pixel = (i + real(0.5)) / scale - real(0.5);
    if (mode == "asymmetric") return i / scale;
    if (mode == "align_corners") {
      return ir::select(length == real(1), real(0), i * real(size() - 1) / (length - real(1)));
    }
    if (mode == "pytorch_half_pixel") return result() == 1 ? real(-0.5) : half_pixel;
    if (mode == "tf_half_pixel_for_nn") return (i + real(0.5)) / scale;
    if (mode == "half_pixel_symmetric") {
      return real(size() / 2) * (real(1) - real(result()) / length) + half_pixel;
    }
    if (mode == "tf_crop_and_resize") {
      const ir::Expr width = (roi_end - roi_start) * real(size() - 1);
      const ir::Expr start = roi_start * real(size() - 1);
      return result() == 1 ? start + width / real(2) : start + i * width / (length - real(1));
    }
    return half_pixel;
  }

  // The element below a place, strictly: one that is met exactly counts as the upper one.
  ir::Expr below(const ir::Expr& index) const { return ceil_of(place(index)) - real(1); }
  ir::Expr ratio(const ir::Expr& index) const { return place(index) - below(index); }

  ir::Expr is_upper(const ir::Expr& ratio) const {
    const std::string& rule = call.word("nearest");
    const ir::Expr exact = ratio == real(1);
    if (rule == "floor") return exact;
    if (rule == "ceil") return ir::bool_imm(true);
    if (rule == "simple") return exact || scale < real(1);
    return rule == "round_prefer_ceil" ? ratio >= real(0.5) : ratio > real(0.5);
  }

  ir::Expr kernel(const ir::Expr& distance) const {
    const ir::Expr x = ir::math(ir::MathFn::Abs, {distance});
    if (call.word("mode") == "linear") return ir::max(real(0), real(1) - x);
    const double a = call.real("cubic_a");
    const ir::Expr near = (real(a + 2) * x - real(a + 3)) * x * x + real(1);
    const ir::Expr far = ((real(a) * x - real(5 * a)) * x + real(8 * a)) * x - real(4 * a);
    return ir::select(x <= real(1), near, ir::select(x < real(2), far, real(0)));
  }

  // Not yet divided by their sum.
  ir::Expr weight(const ir::Expr& index, const ir::Expr& tap) const {
    const ir::Expr offset = tap + ir::Expr(call.integer("first"));
    const ir::Expr shrink = call.integer("antialias") != 0 ? ir::min(scale, real(1)) : real(1);
    const ir::Expr value = kernel((ir::cast(ir::kF64, offset) - ratio(index)) * shrink);
    if (call.integer("exclude_outside") == 0) return value;
    const ir::Expr at = ir::cast(ir::kIndex, below(index)) + offset;
    return ir::select(at >= 0 && at < ir::Expr(call.integer("size")), value, real(0));
  }
};

Types infer_table(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  const std::int64_t axes = call.integer("axes");
  if ((call.has(0) && call.inputs[0].shape != Shape{axes}) ||
      (call.has(1) && call.inputs[1].shape != Shape{2 * axes})) {
    return does_not_fit(call, "scales and roi have one and two numbers for each axis");
  }
  const Shape row{call.integer("result")}, table{row[0], call.integer("taps")};
  if (call.name == "resize_outside") return std::vector<TensorType>{{ir::kBool, row, {}}};
  return std::vector<TensorType>{{call.name == "resize_places" ? ir::kI64 : ir::kF32, table, {}}};
}

ir::Expr places_element(const OpCall& call, const std::vector<Read>& inputs, const Index& index) {
  const Axis axis(call, inputs);
  const ir::Expr below = ir::cast(ir::kIndex, axis.below(index[0]));
  if (call.word("mode") == "nearest") {
    const ir::Expr upper = axis.is_upper(axis.ratio(index[0]));
    return clamped(ir::select(upper, below + 1, below), call.integer("size"));
  }
  return clamped(below + index[1] + ir::Expr(call.integer("first")), call.integer("size"));
}

ir::Expr weights_element(const OpCall& call, const std::vector<Read>& inputs, const Index& index) {
  const Axis axis(call, inputs);
  const ir::Expr weight = axis.weight(index[0], index[1]);
  if (call.integer("antialias") == 0 && call.integer("exclude_outside") == 0) {
    return ir::cast(ir::kF32, weight);
  }
  ir::Expr sum = axis.weight(index[0], 0);
  for (std::int64_t tap = 1; tap < call.integer("taps"); ++tap) {
    sum = sum + axis.weight(index[0], tap);
  }
  return ir::cast(ir::kF32, weight / sum);
}

ir::Expr outside_element(const OpCall& call, const std::vector<Read>& inputs, const Index& index) {
  const Axis axis(call, inputs);
  const ir::Expr place = axis.place(index[0]);
  return place < real(0) || place > real(axis.size() - 1);
}

}  // namespace

std::vector<OpDef> resize_table_operators() {
  return {
      by_element("resize_places", OpKind::Injective, infer_table, places_element),
      by_element("resize_weights", OpKind::Injective, infer_table, weights_element),
      by_element("resize_outside", OpKind::Injective, infer_table, outside_element),
  };
}

}  // namespace attune::ops

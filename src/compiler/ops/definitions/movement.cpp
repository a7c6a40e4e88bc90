// Operators that only move elements: each output element is one input element at an index computed
// from the output's.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/ops/definitions/indexing.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using Types = Result<std::vector<TensorType>>;
using Index = std::vector<ir::Expr>;

Types infer_transpose(const OpCall& call) {
  const TensorType& input = call.inputs[0];
  const Shape& perm = call.integers("perm");
  Shape sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  bool fits = perm.size() == input.shape.size();
  for (std::size_t i = 0; fits && i < sorted.size(); ++i) {
    fits = sorted[i] == static_cast<std::int64_t>(i);
  }
  if (!fits) {
    return does_not_fit(call,
                        fmt::format("[{}] is no order of its dimensions", fmt::join(perm, ",")));
  }
  TensorType type{input.dtype, {}, {}};
  for (const std::int64_t axis : perm) {
    const auto from = static_cast<std::size_t>(axis);
    type.shape.push_back(input.shape[from]);
    if (!input.extents.empty()) type.extents.push_back(input.extents[from]);
  }
  return std::vector{type};
}

ir::Expr transpose_element(const OpCall& call, const std::vector<Read>& inputs,
                           const Index& index) {
  const Shape& perm = call.integers("perm");
  Index from(index.size());
  for (std::size_t i = 0; i < index.size(); ++i) from[static_cast<std::size_t>(perm[i])] = index[i];
  return inputs[0](from);
}

// Rows stay rows.
bool keeps_last(const OpCall& call) {
  const Shape& perm = call.integers("perm");
  return perm.back() + 1 == static_cast<std::int64_t>(perm.size());
}
bool keeps_order(const OpCall& call) {
  const Shape& perm = call.integers("perm");
  return std::is_sorted(perm.begin(), perm.end());
}

Types infer_slice(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  const TensorType& input = call.inputs[0];
  const Shape& starts = call.integers("starts");
  const Shape& steps = call.integers("steps");
  const Shape& shape = call.integers("shape");
  const std::size_t rank = input.shape.size();
  if (starts.size() != rank || steps.size() != rank || shape.size() != rank) {
    return does_not_fit(call, "starts, steps and shape need a number for each dimension");
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t last = starts[i] + steps[i] * (shape[i] - 1);
    const bool inside = starts[i] >= 0 && starts[i] < input.shape[i] && last >= 0 &&
                        last < input.shape[i] && steps[i] != 0;
    if (shape[i] < 0 || (shape[i] > 0 && !inside)) {
      return does_not_fit(call, fmt::format("{} elements from {} in steps of {} leave dimension {}",
                                            shape[i], starts[i], steps[i], i));
    }
  }
  return std::vector<TensorType>{{input.dtype, shape, {}}};
}

ir::Expr slice_element(const OpCall& call, const std::vector<Read>& inputs, const Index& index) {
  const Shape& starts = call.integers("starts");
  const Shape& steps = call.integers("steps");
  Index from;
  for (std::size_t i = 0; i < index.size(); ++i) {
    ir::Expr place = steps[i] == 1 ? index[i] : index[i] * ir::Expr(steps[i]);
    from.push_back(starts[i] == 0 ? place : place + ir::Expr(starts[i]));
  }
  return inputs[0](from);
}

bool steps_by_one(const OpCall& call) { return call.integers("steps").back() == 1; }
// What is as large as the input and begins where it does.
bool from_start(const OpCall& call) {
  return all_are(call.integers("starts"), 0) && all_are(call.integers("steps"), 1);
}

Types infer_concat(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  const auto axis = static_cast<std::size_t>(call.integer("axis"));
  TensorType type = call.inputs[0];
  if (axis >= type.shape.size()) {
    return does_not_fit(call, fmt::format("there is no dimension {}", axis));
  }
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    const TensorType& next = call.inputs[i];
    Shape expected = next.shape;
    if (expected.size() == type.shape.size()) expected[axis] = type.shape[axis];
    if (next.dtype != type.dtype || expected != type.shape) {
      return does_not_fit(call, fmt::format("they differ in more than dimension {}", axis));
    }
    type.shape[axis] += next.shape[axis];
  }
  return std::vector{type};
}

// The element `place` of inputs [begin, end), which start at starts[begin]; halves the choice each
// time, so that many inputs need few comparisons.
ir::Expr concat_range(const std::vector<Read>& inputs, const Shape& starts, std::size_t begin,
                      std::size_t end, std::size_t axis, const Index& index) {
  if (end - begin == 1) {
    Index from = index;
    if (starts[begin] != 0) from[axis] = index[axis] - ir::Expr(starts[begin]);
    return inputs[begin](from);
  }
  const std::size_t middle = begin + (end - begin) / 2;
  return ir::select(index[axis] < ir::Expr(starts[middle]),
                    concat_range(inputs, starts, begin, middle, axis, index),
                    concat_range(inputs, starts, middle, end, axis, index));
}

ir::Expr concat_element(const OpCall& call, const std::vector<Read>& inputs, const Index& index) {
  const auto axis = static_cast<std::size_t>(call.integer("axis"));
  std::vector<Read> filled;  // empty inputs have no elements to read
  Shape starts;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::int64_t extent = call.inputs[i].shape[axis];
    if (extent == 0) continue;
    filled.push_back(inputs[i]);
    starts.push_back(start);
    start += extent;
  }
  return concat_range(filled, starts, 0, filled.size(), axis, index);
}

bool joins_one(const OpCall& call) { return call.inputs.size() == 1; }

// Tensors of one type, one after the other along a new first dimension.
Types infer_stack(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  TensorType type = call.inputs[0];
  for (const TensorType& next : call.inputs) {
    if (next.dtype != type.dtype || next.shape != type.shape) {
      return does_not_fit(call, "they differ in type or shape");
    }
  }
  type.shape.insert(type.shape.begin(), static_cast<std::int64_t>(call.inputs.size()));
  return std::vector{type};
}

ir::Expr stack_element(const OpCall& /*call*/, const std::vector<Read>& inputs,
                       const Index& index) {
  const Index inside(index.begin() + 1, index.end());
  ir::Expr value = inputs.back()(inside);
  for (std::size_t i = inputs.size() - 1; i-- > 0;) {
    value =
        ir::select(index[0] < ir::Expr(static_cast<std::int64_t>(i) + 1), inputs[i](inside), value);
  }
  return value;
}

Types infer_expand(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  const TensorType& input = call.inputs[0];
  const Shape& shape = call.integers("shape");
  bool fits = shape.size() >= input.shape.size();
  for (std::size_t i = 0; fits && i < input.shape.size(); ++i) {
    const std::int64_t extent = input.shape[input.shape.size() - 1 - i];
    fits = extent == 1 || extent == shape[shape.size() - 1 - i];
  }
  if (!fits) {
    return does_not_fit(call, fmt::format("does not expand to [{}]", fmt::join(shape, ",")));
  }
  return std::vector<TensorType>{{input.dtype, shape, {}}};
}

ir::Expr expand_element(const OpCall& call, const std::vector<Read>& inputs, const Index& index) {
  return inputs[0](broadcast_index(call.inputs[0].shape, index));
}

// To its own shape.
bool always(const OpCall& /*call*/) { return true; }

// tile: the whole input again and again; repeat: each element again and again.
Types infer_repeats(const OpCall& call) {
  ATTUNE_RETURN_IF_ERROR(require_static(call));
  TensorType type = call.inputs[0];
  const Shape& repeats = call.integers("repeats");
  if (repeats.size() != type.shape.size()) {
    return does_not_fit(
        call, fmt::format("{} repeats for {} dimensions", repeats.size(), type.shape.size()));
  }
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0 || __builtin_mul_overflow(type.shape[i], repeats[i], &type.shape[i])) {
      return does_not_fit(call, fmt::format("{} repeats", repeats[i]));
    }
  }
  return std::vector{type};
}

bool once(const OpCall& call) { return all_are(call.integers("repeats"), 1); }

ir::Expr tile_element(const OpCall& call, const std::vector<Read>& inputs, const Index& index) {
  Index from;
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::int64_t extent = call.inputs[0].shape[i];
    from.push_back(call.integers("repeats")[i] == 1 ? index[i]
                   : extent == 1                    ? ir::Expr(0)
                                                    : index[i] % ir::Expr(extent));
  }
  return inputs[0](from);
}

ir::Expr repeat_element(const OpCall& call, const std::vector<Read>& inputs, const Index& index) {
  Index from;
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::int64_t times = call.integers("repeats")[i];
    from.push_back(times == 1 ? index[i] : index[i] / ir::Expr(times));
  }
  return inputs[0](from);
}

}  // namespace

std::vector<OpDef> movement_operators() {
  return {
      by_element("transpose", OpKind::Injective, infer_transpose, transpose_element,
                 {.narrow = true, .keeps_rows = keeps_last, .does_nothing = keeps_order}),
      by_element("slice", OpKind::Injective, infer_slice, slice_element,
                 {.keeps_channels = true,
                  .narrow = true,
                  .keeps_rows = steps_by_one,
                  .does_nothing = from_start,
                  .host = kNoHost}),
      by_element(
          "concat", OpKind::Injective, infer_concat, concat_element,
          {.keeps_channels = true, .narrow = true, .enlarges = true, .does_nothing = joins_one}),
      by_element("stack", OpKind::Injective, infer_stack, stack_element,
                 {.narrow = true, .enlarges = true, .host = kNoHost}),
      by_element("expand", OpKind::Injective, infer_expand, expand_element,
                 {.narrow = true, .does_nothing = always}),
      by_element("tile", OpKind::Injective, infer_repeats, tile_element,
                 {.narrow = true, .does_nothing = once}),
      by_element("repeat", OpKind::Injective, infer_repeats, repeat_element,
                 {.keeps_channels = true,
                  .narrow = true,
                  .enlarges = true,
                  .does_nothing = once,
                  .host = kNoHost}),
  };
}

}  // namespace attune::ops

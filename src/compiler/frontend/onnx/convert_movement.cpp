// Reshape, Transpose, Slice, Concat, Split and others that move elements as they are.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/frontend/onnx/shape_converters.h"

namespace attune::onnx {
namespace {

// The attribute that later versions turned into an input; nothing if neither is there.
Result<std::optional<Extents>> attribute_or_input(NodeContext& node, std::string_view key,
                                                  std::size_t input) {
  if (auto values = node.integers(key)) return values;
  if (!node.has(input)) return std::optional<Extents>();
  ATTUNE_ASSIGN(Extents values, node.integers_input(input, key));
  return std::optional(std::move(values));
}

}  // namespace

Result<ValueId> slice_axis(NodeContext& node, ValueId value, std::int64_t axis, std::int64_t start,
                           std::int64_t size) {
  Extents shape = node.shape(value);
  const auto at = static_cast<std::size_t>(axis);
  if (at >= shape.size()) {
    return invalid(fmt::format("{} has no dimension {}", ops::to_string(node.type(value)), axis));
  }
  if (start == 0 && shape[at] == size) return value;
  Extents starts(shape.size(), 0);
  starts[at] = size == 0 ? 0 : start;
  shape[at] = size;
  return node.add("slice", {value},
                  {{"starts", starts}, {"steps", Extents(shape.size(), 1)}, {"shape", shape}});
}

Result<ValueId> transpose(NodeContext& node, ValueId value, Extents perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return value;
  return node.add("transpose", {value}, {{"perm", std::move(perm)}});
}

Converted convert_reshape(NodeContext& node) {
  ATTUNE_ASSIGN(const auto wanted, attribute_or_input(node, "shape", 1));
  if (!wanted) return invalid("its shape is missing");
  const Extents& from = node.shape(node.input(0));
  Extents shape = *wanted;
  const bool allow_zero = node.flag("allowzero");
  std::int64_t known = 1;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !allow_zero) {
      if (i >= from.size()) return invalid(fmt::format("there is no dimension {} to copy", i));
      shape[i] = from[i];
    }
    if (shape[i] < -1 || (shape[i] == -1 && open)) {
      return invalid(fmt::format("[{}] is no shape", fmt::join(*wanted, ",")));
    }
    if (shape[i] == -1) {
      open = i;
    } else if (__builtin_mul_overflow(known, shape[i], &known)) {
      return invalid(fmt::format("[{}] is too large a shape", fmt::join(*wanted, ",")));
    }
  }
  const std::int64_t elements = node.type(node.input(0)).elements();
  if (open && known == 0 && elements != 0) {
    return invalid(
        fmt::format("[{}] leaves no room for {} elements", fmt::join(*wanted, ","), elements));
  }
  if (open) shape[*open] = known == 0 ? 0 : elements / known;
  return one(node.reshape(node.input(0), shape));
}

Converted convert_squeeze(NodeContext& node) {
  ATTUNE_ASSIGN(const auto wanted, attribute_or_input(node, "axes", 1));
  const Extents& from = node.shape(node.input(0));
  Extents axes;
  if (wanted) {
    ATTUNE_ASSIGN(axes, node.axes(*wanted, node.rank(node.input(0))));
  }
  Extents shape;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const bool named =
        std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    if (named && from[i] != 1) {
      return invalid(
          fmt::format("dimension {} has {} elements, only 1 can be squeezed", i, from[i]));
    }
    if (wanted ? !named : from[i] != 1) shape.push_back(from[i]);
  }
  return one(node.reshape(node.input(0), shape));
}

Converted convert_unsqueeze(NodeContext& node) {
  ATTUNE_ASSIGN(const auto wanted, attribute_or_input(node, "axes", 1));
  if (!wanted) return invalid("its axes are missing");
  const Extents& from = node.shape(node.input(0));
  const int rank = static_cast<int>(from.size() + wanted->size());
  ATTUNE_ASSIGN(const Extents axes, node.axes(*wanted, rank));
  Extents shape;
  std::size_t next = 0;
  for (std::int64_t i = 0; i < rank; ++i) {
    const bool is_new = std::find(axes.begin(), axes.end(), i) != axes.end();
    shape.push_back(is_new ? 1 : from[next++]);
  }
  return one(node.reshape(node.input(0), shape));
}

Converted convert_flatten(NodeContext& node) {
  const Extents& from = node.shape(node.input(0));
  const auto rank = static_cast<std::int64_t>(from.size());
  std::int64_t axis = node.integer("axis", 1);
  if (axis < -rank || axis > rank) {
    return invalid(fmt::format("axis {} is out of range for {} dimensions", axis, rank));
  }
  if (axis < 0) axis += rank;
  Extents shape{1, 1};
  for (std::int64_t i = 0; i < rank; ++i) {
    shape[i < axis ? 0 : 1] *= from[static_cast<std::size_t>(i)];
  }
  return one(node.reshape(node.input(0), shape));
}

Converted convert_transpose(NodeContext& node) {
  const int rank = node.rank(node.input(0));
  Extents perm;
  for (int i = rank; i-- > 0;) perm.push_back(i);
  if (auto given = node.integers("perm")) {
    if (static_cast<int>(given->size()) != rank) {
      return invalid(
          fmt::format("perm [{}] is for other than {} dimensions", fmt::join(*given, ","), rank));
    }
    perm = *given;
    for (std::int64_t& axis : perm) {
      ATTUNE_ASSIGN(axis, node.axis(axis, rank));
    }
  }
  return one(transpose(node, node.input(0), perm));
}

namespace {

struct Range {
  std::int64_t start, step, size;
};

// start:end:step of a dimension, by the rules of NumPy.
Range range_of(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t extent) {
  const auto within = [&](std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value < 0) value = value < -extent ? low : value + extent;
    return std::clamp(value, low, std::max(low, high));
  };
  if (extent == 0) return {0, 1, 0};
  // Steps that go beyond the tensor do so whatever they are.
  step = std::clamp(step, -extent - 1, extent + 1);
  const bool forward = step > 0;
  start = forward ? within(start, 0, extent) : within(start, -1, extent - 1);
  end = forward ? within(end, 0, extent) : within(end, -1, extent - 1);
  const std::int64_t distance = forward ? end - start : start - end;
  const std::int64_t size = distance <= 0 ? 0 : (distance - 1) / std::abs(step) + 1;
  return size == 0 ? Range{0, 1, 0} : Range{start, step, size};
}

}  // namespace

Converted convert_slice(NodeContext& node) {
  const ValueId data = node.input(0);
  const auto is_open = [&](std::size_t input) {
    return node.has(input) && node.builder().constant_of(node.input(input)) == nullptr;
  };
  if (is_open(1) || is_open(2) || !node.type(data).is_static()) {
    Converted whole = convert_dynamic_slice(node);
    if (whole.ok()) return whole;
  }
  ATTUNE_ASSIGN(const auto starts, attribute_or_input(node, "starts", 1));
  ATTUNE_ASSIGN(const auto ends, attribute_or_input(node, "ends", 2));
  ATTUNE_ASSIGN(auto axes, attribute_or_input(node, "axes", 3));
  ATTUNE_ASSIGN(const auto steps, attribute_or_input(node, "steps", 4));
  if (!starts || !ends) return invalid("its starts or ends are missing");
  if (!axes) {
    axes.emplace();
    for (std::size_t i = 0; i < starts->size(); ++i) axes->push_back(static_cast<int>(i));
  }
  ATTUNE_ASSIGN(const Extents dimensions, node.axes(*axes, node.rank(data)));
  if (starts->size() != ends->size() || starts->size() != dimensions.size() ||
      (steps && steps->size() != starts->size())) {
    return invalid("starts, ends, axes and steps are not equally many");
  }
  Extents shape = node.shape(data);
  Extents first(shape.size(), 0), stride(shape.size(), 1);
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const auto axis = static_cast<std::size_t>(dimensions[i]);
    const std::int64_t step = steps ? (*steps)[i] : 1;
    if (step == 0) return invalid("a step is 0");
    const Range range = range_of((*starts)[i], (*ends)[i], step, shape[axis]);
    first[axis] = range.start;
    stride[axis] = range.step;
    shape[axis] = range.size;
  }
  if (shape == node.shape(data) &&
      std::all_of(stride.begin(), stride.end(), [](std::int64_t step) { return step > 0; })) {
    return std::vector{data};
  }
  return one(node.add("slice", {data}, {{"starts", first}, {"steps", stride}, {"shape", shape}}));
}

Converted convert_concat(NodeContext& node) {
  ATTUNE_ASSIGN(const std::int64_t axis,
                node.axis(node.integer("axis", 1), node.rank(node.input(0))));
  if (node.input_count() == 1) return std::vector{node.input(0)};
  return one(node.add("concat", node.inputs(), {{"axis", axis}}));
}

Converted convert_split(NodeContext& node) {
  const ValueId data = node.input(0);
  ATTUNE_ASSIGN(const std::int64_t axis, node.axis(node.integer("axis", 0), node.rank(data)));
  const std::int64_t extent = node.shape(data)[static_cast<std::size_t>(axis)];
  const auto outputs = static_cast<std::int64_t>(node.output_count());
  ATTUNE_ASSIGN(const auto given, attribute_or_input(node, "split", 1));
  Extents sizes;
  if (given) {
    sizes = *given;
  } else {
    const std::int64_t count = node.integer("num_outputs", outputs);
    if (count < 1 || count > std::max<std::int64_t>(outputs, extent)) {
      return invalid(fmt::format("it splits {} elements into {} parts", extent, count));
    }
    if (!node.has_attribute("num_outputs") && extent % count != 0) {
      return invalid(fmt::format("{} elements do not split into {} equal parts", extent, count));
    }
    const std::int64_t part = (extent + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i) {
      sizes.push_back(std::clamp<std::int64_t>(extent - i * part, 0, part));
    }
  }
  std::int64_t start = 0;
  std::vector<ValueId> results;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > extent - start) break;
    ATTUNE_ASSIGN(const ValueId part, slice_axis(node, data, axis, start, size));
    results.push_back(part);
    start += size;
  }
  if (start != extent || static_cast<std::int64_t>(results.size()) < outputs) {
    return invalid(
        fmt::format("parts of [{}] do not make up {} elements", fmt::join(sizes, ","), extent));
  }
  return results;
}

Converted convert_expand(NodeContext& node) {
  if (node.is_open(1)) return convert_bounded_expand(node);
  ATTUNE_ASSIGN(const Extents wanted, node.integers_input(1, "shape"));
  const std::array shapes{node.shape(node.input(0)), wanted};
  ATTUNE_ASSIGN(Extents shape, ops::broadcast_shape(shapes));
  if (shape == node.shape(node.input(0))) return std::vector{node.input(0)};
  return one(node.add("expand", {node.input(0)}, {{"shape", std::move(shape)}}));
}

Converted convert_tile(NodeContext& node) {
  if (node.is_open(1)) return convert_bounded_tile(node);
  ATTUNE_ASSIGN(const Extents repeats, node.integers_input(1, "repeats"));
  if (std::all_of(repeats.begin(), repeats.end(), [](std::int64_t n) { return n == 1; })) {
    return std::vector{node.input(0)};
  }
  return one(node.add("tile", {node.input(0)}, {{"repeats", repeats}}));
}

namespace {

Status check_blocks(NodeContext& node, std::int64_t block, bool from_depth) {
  const Extents& shape = node.shape(node.input(0));
  const bool fits = shape.size() == 4 && block >= 1 && block < (1 << 16) &&
                    (from_depth ? shape[1] % (block * block) == 0
                                : shape[2] % block == 0 && shape[3] % block == 0);
  if (fits) return {};
  return invalid(fmt::format("{} is not made of blocks of {}",
                             ops::to_string(node.type(node.input(0))), block));
}

}  // namespace

Converted convert_depth_to_space(NodeContext& node) {
  const std::int64_t block = node.integer("blocksize", 0);
  ATTUNE_RETURN_IF_ERROR(check_blocks(node, block, true));
  const Extents s = node.shape(node.input(0));
  const std::int64_t depth = s[1] / (block * block);
  const bool by_column = node.word("mode", "DCR") == "CRD";
  const Extents split = by_column ? Extents{s[0], depth, block, block, s[2], s[3]}
                                  : Extents{s[0], block, block, depth, s[2], s[3]};
  ATTUNE_ASSIGN(ValueId value, node.reshape(node.input(0), split));
  const Extents perm = by_column ? Extents{0, 1, 4, 2, 5, 3} : Extents{0, 3, 4, 1, 5, 2};
  ATTUNE_ASSIGN(value, transpose(node, value, perm));
  return one(node.reshape(value, {s[0], depth, s[2] * block, s[3] * block}));
}

Converted convert_space_to_depth(NodeContext& node) {
  const std::int64_t block = node.integer("blocksize", 0);
  ATTUNE_RETURN_IF_ERROR(check_blocks(node, block, false));
  const Extents s = node.shape(node.input(0));
  ATTUNE_ASSIGN(ValueId value, node.reshape(node.input(0), {s[0], s[1], s[2] / block, block,
                                                            s[3] / block, block}));
  const bool by_column = node.word("mode", "DCR") == "CRD";
  const Extents perm = by_column ? Extents{0, 1, 3, 5, 2, 4} : Extents{0, 3, 5, 1, 2, 4};
  ATTUNE_ASSIGN(value, transpose(node, value, perm));
  return one(node.reshape(value, {s[0], s[1] * block * block, s[2] / block, s[3] / block}));
}

}  // namespace attune::onnx

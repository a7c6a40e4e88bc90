// Operators that keep the elements and change the shape: Identity, Reshape, Flatten, Squeeze,
// Unsqueeze.
#include <algorithm>
#include <cstring>
#include <optional>

#include "runtime/host/list.h"
#include "runtime/memory/tensor.h"

namespace attune::runtime::host {
namespace {

Status with_shape(const Call& call, const Shape& shape) {
  const HostTensor& input = call.inputs[0];
  if (shape.elements() != input.shape.elements()) {
    return call.bad("a tensor of shape " + shape_text(input.shape.span()) +
                    " cannot have the shape " + shape_text(shape.span()));
  }
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, input.type, shape));
  const auto bytes = static_cast<std::size_t>(shape.elements()) * byte_size(input.type);
  if (call.has_output(0) && bytes > 0) std::memcpy(call.outputs[0].data, input.data, bytes);
  return {};
}

}  // namespace

Status identity(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, call.inputs.size(), call.outputs.size()));
  return with_shape(call, call.inputs[0].shape);
}

Status reshape(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 2));
  const Shape& old = call.inputs[0].shape;
  ATTUNE_ASSIGN(const auto wanted, call.integers(1, "shape"));
  if (!wanted || wanted->size() > kMaxRank) return call.bad("the new shape is missing or too long");
  const bool copy_zeros = call.integer("allowzero", 0) == 0;
  Shape result;
  std::optional<std::size_t> open;  // the extent that follows from the others
  std::int64_t known = 1;
  for (std::size_t d = 0; d < wanted->size(); ++d) {
    std::int64_t extent = (*wanted)[d];
    if (extent == 0 && copy_zeros) {
      if (d >= old.rank()) return call.bad("extent " + std::to_string(d) + " has nothing to copy");
      extent = old[d];
    }
    if (extent < -1 || (extent == -1 && open)) {
      return call.bad("the new shape has the extent " + std::to_string(extent));
    }
    result.push_back(extent);
    if (extent == -1) {
      open = d;
    } else if (__builtin_mul_overflow(known, extent, &known)) {
      return call.bad("the new shape is too large");
    }
  }
  if (open) {
    if (known == 0 || old.elements() % known != 0) {
      return call.bad(std::to_string(old.elements()) + " elements do not divide into rows of " +
                      std::to_string(known));
    }
    result[*open] = old.elements() / known;
  }
  return with_shape(call, result);
}

Status flatten(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 1));
  const Shape& old = call.inputs[0].shape;
  const auto rank = static_cast<std::int64_t>(old.rank());
  std::int64_t axis = call.integer("axis", 1);
  if (axis < -rank || axis > rank)
    return call.bad("axis " + std::to_string(axis) + " is too large");
  if (axis < 0) axis += rank;
  const auto split = static_cast<std::size_t>(axis);
  return with_shape(call, {Shape(old.span().first(split)).elements(),
                           Shape(old.span().subspan(split)).elements()});
}

Status squeeze(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 2));
  const Shape& old = call.inputs[0].shape;
  ATTUNE_ASSIGN(const auto axes, call.integers(1, "axes"));
  std::uint32_t removed = 0;
  if (!axes) {
    for (std::size_t d = 0; d < old.rank(); ++d) removed |= (old[d] == 1 ? 1u : 0u) << d;
  } else {
    for (const std::int64_t given : *axes) {
      ATTUNE_ASSIGN(const std::size_t axis, call.axis(given, old.rank()));
      if (old[axis] != 1) {
        return call.bad("axis " + std::to_string(axis) + " has " + std::to_string(old[axis]) +
                        " elements, not 1");
      }
      removed |= 1u << axis;
    }
  }
  Shape result;
  for (std::size_t d = 0; d < old.rank(); ++d) {
    if ((removed >> d & 1) == 0) result.push_back(old[d]);
  }
  return with_shape(call, result);
}

Status unsqueeze(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 2));
  const Shape& old = call.inputs[0].shape;
  ATTUNE_ASSIGN(const auto axes, call.integers(1, "axes"));
  if (!axes || old.rank() + axes->size() > kMaxRank) {
    return call.bad("axes are missing or too many");
  }
  const std::size_t rank = old.rank() + axes->size();
  std::uint32_t added = 0;
  for (const std::int64_t given : *axes) {
    ATTUNE_ASSIGN(const std::size_t axis, call.axis(given, rank));
    if ((added >> axis & 1) != 0)
      return call.bad("axis " + std::to_string(axis) + " is there twice");
    added |= 1u << axis;
  }
  Shape result;
  std::size_t next = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    result.push_back((added >> d & 1) != 0 ? 1 : old[next++]);
  }
  return with_shape(call, result);
}

}  // namespace attune::runtime::host

// Slice: a part of a tensor, by begin, end and step along some axes, as ONNX clamps them.
#include <algorithm>
#include <numeric>

#include "runtime/host/list.h"
#include "runtime/host/strides.h"

namespace attune::runtime::host {
namespace {

struct Range {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

Range clamp_range(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t extent) {
  if (extent == 0) return {};
  // Steps beyond the extent all take one element.
  step = std::clamp(step, -extent - 1, extent + 1);
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  if (step > 0) {
    start = std::clamp<std::int64_t>(start, 0, extent);
    end = std::clamp<std::int64_t>(end, 0, extent);
    return {start, step, end > start ? (end - start - 1) / step + 1 : 0};
  }
  start = std::clamp<std::int64_t>(start, 0, extent - 1);
  end = std::clamp<std::int64_t>(end, -1, extent - 1);
  return {start, step, start > end ? (start - end - 1) / -step + 1 : 0};
}

}  // namespace

Status slice(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 5));
  const HostTensor& input = call.inputs[0];
  ATTUNE_ASSIGN(const auto starts, call.integers(1, "starts"));
  ATTUNE_ASSIGN(const auto ends, call.integers(2, "ends"));
  ATTUNE_ASSIGN(auto axes, call.integers(3, "axes"));
  ATTUNE_ASSIGN(auto steps, call.integers(4, "steps"));
  if (!starts || !ends) return call.bad("starts or ends are missing");
  if (!axes) {
    axes.emplace(starts->size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (!steps) steps.emplace(starts->size(), 1);
  if (ends->size() != starts->size() || axes->size() != starts->size() ||
      steps->size() != starts->size()) {
    return call.bad("starts, ends, axes and steps differ in length");
  }
  Shape result = input.shape;
  Shape strides = row_major_strides(input.shape);
  std::int64_t offset = 0;
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < starts->size(); ++i) {
    ATTUNE_ASSIGN(const std::size_t axis, call.axis((*axes)[i], input.shape.rank()));
    if ((seen >> axis & 1) != 0)
      return call.bad("axis " + std::to_string(axis) + " is there twice");
    seen |= 1u << axis;
    if ((*steps)[i] == 0) return call.bad("a step is 0");
    const Range range = clamp_range((*starts)[i], (*ends)[i], (*steps)[i], input.shape[axis]);
    offset += range.start * strides[axis];
    result[axis] = range.count;
    strides[axis] *= range.step;
  }
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, input.type, result));
  if (call.has_output(0)) {
    copy_strided(call.outputs[0].data, input.data, byte_size(input.type), result, strides, offset);
  }
  return {};
}

}  // namespace attune::runtime::host

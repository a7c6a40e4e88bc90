// Pad: more (or, with negative numbers, fewer) elements at the ends of axes, in all modes of ONNX.
#include <cstring>

#include "runtime/host/elements.h"
#include "runtime/host/list.h"
#include "runtime/host/strides.h"

namespace attune::runtime::host {
namespace {

enum class Mode { Constant, Reflect, Edge, Wrap };

// Which element of an axis stands at `position`; -1 for the constant.
std::int64_t source_of(Mode mode, std::int64_t position, std::int64_t extent) {
  if (position >= 0 && position < extent) return position;
  const auto floor_mod = [](std::int64_t a, std::int64_t b) { return ((a % b) + b) % b; };
  switch (mode) {
    case Mode::Constant:
      return -1;
    case Mode::Edge:
      return position < 0 ? 0 : extent - 1;
    case Mode::Wrap:
      return floor_mod(position, extent);
    case Mode::Reflect:
      break;
  }
  if (extent == 1) return 0;
  const std::int64_t period = 2 * (extent - 1);
  const std::int64_t place = floor_mod(position, period);
  return place < extent ? place : period - place;
}

Result<Mode> mode_of(const Call& call) {
  const std::string_view name = call.text("mode", "constant");
  if (name == "constant") return Mode::Constant;
  if (name == "reflect") return Mode::Reflect;
  if (name == "edge") return Mode::Edge;
  if (name == "wrap") return Mode::Wrap;
  return call.bad("unknown mode '" + std::string(name) + "'");
}

// Pairs (before, after) per axis of the input.
Result<std::vector<std::int64_t>> read_pads(const Call& call, std::size_t rank) {
  ATTUNE_ASSIGN(const auto given, call.integers(1, "pads"));
  ATTUNE_ASSIGN(auto axes, call.integers(3, "axes"));
  if (!axes) {
    axes.emplace();
    for (std::size_t d = 0; d < rank; ++d) axes->push_back(static_cast<std::int64_t>(d));
  }
  if (!given || given->size() != 2 * axes->size()) return call.bad("pads do not fit the axes");
  std::vector<std::int64_t> pads(2 * rank, 0);
  for (std::size_t i = 0; i < axes->size(); ++i) {
    ATTUNE_ASSIGN(const std::size_t axis, call.axis((*axes)[i], rank));
    pads[2 * axis] = (*given)[i];
    pads[2 * axis + 1] = (*given)[axes->size() + i];
  }
  return pads;
}

}  // namespace

Status pad(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 4));
  const HostTensor& input = call.inputs[0];
  const std::size_t rank = input.shape.rank();
  ATTUNE_ASSIGN(const Mode mode, mode_of(call));
  ATTUNE_ASSIGN(const std::vector<std::int64_t> pads, read_pads(call, rank));
  Shape result;
  for (std::size_t d = 0; d < rank; ++d) {
    std::int64_t extent = 0;
    if (__builtin_add_overflow(pads[2 * d], pads[2 * d + 1], &extent) ||
        __builtin_add_overflow(extent, input.shape[d], &extent)) {
      return call.bad("pads are too large");
    }
    result.push_back(extent);
    if (mode != Mode::Constant && extent > 0 && input.shape[d] == 0) {
      return call.bad("axis " + std::to_string(d) + " has no elements to repeat");
    }
  }
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, input.type, result));
  if (!call.has_output(0)) return {};
  const std::size_t width = byte_size(input.type);
  std::byte value[8] = {};
  if (call.has_input(2) && call.inputs[2].shape.elements() > 0) {
    if (call.inputs[2].type != input.type) return call.bad("the constant has another type");
    std::memcpy(value, call.inputs[2].data, width);
  } else if (call.attributes.contains("value")) {
    const double real = call.real("value", 0.0);
    store_reals({.type = input.type, .shape = {1}, .data = value, .capacity_bytes = 8}, 0, &real,
                1);
  }
  const Shape strides = row_major_strides(input.shape);
  auto* to = static_cast<std::byte*>(call.outputs[0].data);
  each_index(result, strides, 0, [&](const Shape& index, std::int64_t) {
    std::int64_t from = 0;
    for (std::size_t d = 0; d < rank && from >= 0; ++d) {
      const std::int64_t source = source_of(mode, index[d] - pads[2 * d], input.shape[d]);
      from = source < 0 ? -1 : from + source * strides[d];
    }
    const auto* source = static_cast<const std::byte*>(input.data) +
                         static_cast<std::size_t>(std::max<std::int64_t>(from, 0)) * width;
    std::memcpy(to, from < 0 ? value : source, width);
    to += width;
  });
  return {};
}

}  // namespace attune::runtime::host

// Operators about shapes and counts: Shape, Size, Range, ConstantOfShape.
#include <algorithm>
#include <cmath>

#include "runtime/host/elements.h"
#include "runtime/host/list.h"

namespace attune::runtime::host {

Status shape_of(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 1));
  const Shape& shape = call.inputs[0].shape;
  const auto rank = static_cast<std::int64_t>(shape.rank());
  const auto clamp = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = clamp(call.integer("start", 0));
  const std::int64_t end = std::max(start, clamp(call.integer("end", rank)));
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, DType::I64, {end - start}));
  for (std::int64_t d = start; call.has_output(0) && d < end; ++d) {
    static_cast<std::int64_t*>(call.outputs[0].data)[d - start] =
        shape[static_cast<std::size_t>(d)];
  }
  return {};
}

Status size_of(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 1));
  const std::int64_t elements = call.inputs[0].shape.elements();
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, DType::I64, {}));
  if (call.has_output(0)) *static_cast<std::int64_t*>(call.outputs[0].data) = elements;
  return {};
}

Status range(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(3, 3));
  const DType type = call.inputs[0].type;
  for (const HostTensor& input : call.inputs) {
    if (input.type != type || input.shape.elements() != 1) {
      return call.bad("start, limit and delta are not three numbers of one type");
    }
  }
  constexpr double kMost = 0x1.0p62;
  if (domain_of(type) == Domain::Real) {
    const double start = real_at(call.inputs[0], 0);
    const double limit = real_at(call.inputs[1], 0);
    const double delta = real_at(call.inputs[2], 0);
    const double count = std::ceil((limit - start) / delta);
    if (delta == 0.0 || !(count < kMost)) return call.bad("the range has no end");
    const auto elements = static_cast<std::int64_t>(std::max(count, 0.0));
    ATTUNE_RETURN_IF_ERROR(call.shape_output(0, type, {elements}));
    for (std::int64_t i = 0; call.has_output(0) && i < elements; ++i) {
      const double value = start + static_cast<double>(i) * delta;
      store_reals(call.outputs[0], i, &value, 1);
    }
    return {};
  }
  const std::int64_t start = integer_at(call.inputs[0], 0);
  const std::int64_t limit = integer_at(call.inputs[1], 0);
  const std::int64_t delta = integer_at(call.inputs[2], 0);
  if (delta == 0) return call.bad("the range has no end");
  // Distances as unsigned numbers hold whatever the ends are.
  const bool rising = delta > 0;
  const bool empty = rising ? limit <= start : limit >= start;
  const auto a = static_cast<std::uint64_t>(start);
  const auto b = static_cast<std::uint64_t>(limit);
  const std::uint64_t step = rising ? static_cast<std::uint64_t>(delta)
                                    : std::uint64_t{0} - static_cast<std::uint64_t>(delta);
  const std::uint64_t count = empty ? 0 : ((rising ? b - a : a - b) - 1) / step + 1;
  if (count > static_cast<std::uint64_t>(kMost)) return call.bad("the range is too long");
  const auto elements = static_cast<std::int64_t>(count);
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, type, {elements}));
  for (std::int64_t i = 0; call.has_output(0) && i < elements; ++i) {
    const auto value = static_cast<std::int64_t>(a + static_cast<std::uint64_t>(i) *
                                                         static_cast<std::uint64_t>(delta));
    store_integers(call.outputs[0], i, &value, 1);
  }
  return {};
}

Status constant_of_shape(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 1));
  ATTUNE_ASSIGN(const auto extents, call.integers(0, "shape"));
  if (!extents || extents->size() > kMaxRank) return call.bad("the shape has too many dimensions");
  if (!call.has_output(0)) return {};
  const HostTensor& output = call.outputs[0];
  const Shape shape(*extents);
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, output.type, shape));
  const std::int64_t whole = call.integer("value", 0);
  const double real = call.real("value", 0.0);
  const bool is_whole = domain_of(output.type) != Domain::Real;
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    is_whole ? store_integers(output, i, &whole, 1) : store_reals(output, i, &real, 1);
  }
  return {};
}

}  // namespace attune::runtime::host

// ScatterElements and ScatterND: a copy of the data with some elements or slices replaced by, or
// combined with, updates. Updates to one place happen in their order.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/host/elements.h"
#include "runtime/host/index.h"
#include "runtime/host/list.h"
#include "runtime/host/strides.h"
#include "runtime/memory/tensor.h"

namespace attune::runtime::host {
namespace {

enum class Reduction { None, Add, Mul, Min, Max };

Result<Reduction> reduction_of(const Call& call) {
  const std::string_view name = call.text("reduction", "none");
  if (name == "none") return Reduction::None;
  if (name == "add") return Reduction::Add;
  if (name == "mul") return Reduction::Mul;
  if (name == "min") return Reduction::Min;
  if (name == "max") return Reduction::Max;
  return call.bad("unknown reduction '" + std::string(name) + "'");
}

double combine(Reduction how, double old, double update) {
  switch (how) {
    case Reduction::Add:
      return old + update;
    case Reduction::Mul:
      return old * update;
    case Reduction::Min:
      return std::isnan(old) || old < update ? old : update;
    case Reduction::Max:
      return std::isnan(old) || old > update ? old : update;
    case Reduction::None:
      break;
  }
  return update;
}

std::int64_t combine(Reduction how, std::int64_t old, std::int64_t update, bool is_unsigned) {
  const auto a = static_cast<std::uint64_t>(old);
  const auto b = static_cast<std::uint64_t>(update);
  const bool less = is_unsigned ? a < b : old < update;
  switch (how) {
    case Reduction::Add:
      return static_cast<std::int64_t>(a + b);
    case Reduction::Mul:
      return static_cast<std::int64_t>(a * b);
    case Reduction::Min:
      return less ? old : update;
    case Reduction::Max:
      return less ? update : old;
    case Reduction::None:
      break;
  }
  return update;
}

// Elements [from, from + count) of updates into output from `to` on.
void update(Reduction how, const HostTensor& output, std::int64_t to, const HostTensor& updates,
            std::int64_t from, std::int64_t count) {
  if (how == Reduction::None) {
    const std::size_t width = byte_size(output.type);
    std::memcpy(
        static_cast<std::byte*>(output.data) + static_cast<std::size_t>(to) * width,
        static_cast<const std::byte*>(updates.data) + static_cast<std::size_t>(from) * width,
        static_cast<std::size_t>(count) * width);
    return;
  }
  if (output.type == DType::F32) {
    float* out = static_cast<float*>(output.data) + to;
    const float* in = static_cast<const float*>(updates.data) + from;
    for (std::int64_t i = 0; i < count; ++i) {
      out[i] = static_cast<float>(combine(how, out[i], in[i]));
    }
    return;
  }
  const bool is_unsigned = domain_of(output.type) == Domain::Unsigned;
  for (std::int64_t i = 0; i < count; ++i) {
    if (domain_of(output.type) == Domain::Real) {
      const double value = combine(how, real_at(output, to + i), real_at(updates, from + i));
      store_reals(output, to + i, &value, 1);
    } else {
      const std::int64_t value =
          combine(how, integer_at(output, to + i), integer_at(updates, from + i), is_unsigned);
      store_integers(output, to + i, &value, 1);
    }
  }
}

// The output as a copy of the data.
Status begin(const Call& call) {
  const HostTensor& data = call.inputs[0];
  if (call.inputs[2].type != data.type) return call.bad("data and updates differ in type");
  ATTUNE_RETURN_IF_ERROR(check_indices(call, call.inputs[1]));
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, data.type, data.shape));
  const std::size_t bytes = static_cast<std::size_t>(data.shape.elements()) * byte_size(data.type);
  if (call.has_output(0) && bytes > 0) std::memcpy(call.outputs[0].data, data.data, bytes);
  return {};
}

}  // namespace

Status scatter_elements(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(3, 3));
  ATTUNE_RETURN_IF_ERROR(begin(call));
  ATTUNE_ASSIGN(const Reduction how, reduction_of(call));
  const Shape& shape = call.inputs[0].shape;
  const HostTensor& indices = call.inputs[1];
  const HostTensor& updates = call.inputs[2];
  ATTUNE_ASSIGN(const std::size_t axis, call.axis(call.integer("axis", 0), shape.rank()));
  if (indices.shape != updates.shape || !fits_along(indices.shape, shape, axis)) {
    return call.bad("indices " + shape_text(indices.shape.span()) + " and updates " +
                    shape_text(updates.shape.span()) + " do not fit the data " +
                    shape_text(shape.span()));
  }
  ATTUNE_ASSIGN(auto places, load_indices(call, indices, shape[axis]));
  if (!call.has_output(0)) return {};
  to_offsets(places, indices.shape, shape, axis);
  std::int64_t from = 0;
  for (const std::int64_t to : places) update(how, call.outputs[0], to, updates, from++, 1);
  return {};
}

Status scatter_nd(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(3, 3));
  ATTUNE_RETURN_IF_ERROR(begin(call));
  ATTUNE_ASSIGN(const Reduction how, reduction_of(call));
  const Shape& shape = call.inputs[0].shape;
  const HostTensor& indices = call.inputs[1];
  const HostTensor& updates = call.inputs[2];
  const std::size_t last = indices.shape.rank();
  if (last == 0) return call.bad("indices are a scalar");
  const std::int64_t depth = indices.shape[last - 1];
  if (depth < 0 || depth > static_cast<std::int64_t>(shape.rank())) {
    return call.bad("an index has " + std::to_string(depth) + " parts, the data " +
                    std::to_string(shape.rank()) + " dimensions");
  }
  const Shape places(indices.shape.span().first(last - 1));
  const Shape slice(shape.span().subspan(static_cast<std::size_t>(depth)));
  bool fits = updates.shape.rank() == places.rank() + slice.rank();
  for (std::size_t d = 0; fits && d < updates.shape.rank(); ++d) {
    const std::int64_t expected = d < places.rank() ? places[d] : slice[d - places.rank()];
    fits = updates.shape[d] == expected;
  }
  if (!fits) return call.bad("updates do not fit indices and data");
  const Shape strides = row_major_strides(shape);
  const std::int64_t slice_elements = slice.elements();
  for (std::int64_t i = 0; i < places.elements(); ++i) {
    std::int64_t to = 0;
    for (std::int64_t d = 0; d < depth; ++d) {
      const auto axis = static_cast<std::size_t>(d);
      const std::int64_t given = integer_at(indices, i * depth + d);
      std::int64_t index = given;
      if (!wrap_index(index, shape[axis])) return out_of_range(call, given, shape[axis]);
      to += index * strides[axis];
    }
    if (call.has_output(0) && slice_elements > 0) {
      update(how, call.outputs[0], to, updates, i * slice_elements, slice_elements);
    }
  }
  return {};
}

}  // namespace attune::runtime::host

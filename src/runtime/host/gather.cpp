// Gather, GatherElements and GatherND: elements or slices picked by index.
#include <cstring>

#include "runtime/host/elements.h"
#include "runtime/host/index.h"
#include "runtime/host/list.h"
#include "runtime/host/strides.h"

namespace attune::runtime::host {
namespace {

void copy_elements(const Call& call, std::int64_t to, std::int64_t from, std::int64_t count) {
  const std::size_t width = byte_size(call.inputs[0].type);
  if (count == 0) return;
  std::memcpy(
      static_cast<std::byte*>(call.outputs[0].data) + static_cast<std::size_t>(to) * width,
      static_cast<const std::byte*>(call.inputs[0].data) + static_cast<std::size_t>(from) * width,
      static_cast<std::size_t>(count) * width);
}

Status checked_rank(const Call& call, std::size_t rank) {
  if (rank > kMaxRank) return call.bad("the result has too many dimensions");
  return {};
}

}  // namespace

Status gather(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(2, 2));
  const HostTensor& data = call.inputs[0];
  const HostTensor& indices = call.inputs[1];
  const Shape& shape = data.shape;
  ATTUNE_ASSIGN(const std::size_t axis, call.axis(call.integer("axis", 0), shape.rank()));
  ATTUNE_RETURN_IF_ERROR(checked_rank(call, shape.rank() - 1 + indices.shape.rank()));
  ATTUNE_ASSIGN(const auto wrapped, load_indices(call, indices, shape[axis]));
  Shape result(shape.span().first(axis));
  for (const std::int64_t extent : indices.shape.span()) result.push_back(extent);
  for (const std::int64_t extent : shape.span().subspan(axis + 1)) result.push_back(extent);
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, data.type, result));
  if (!call.has_output(0)) return {};
  const std::int64_t outer = Shape(shape.span().first(axis)).elements();
  const std::int64_t inner = Shape(shape.span().subspan(axis + 1)).elements();
  std::int64_t to = 0;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const std::int64_t index : wrapped) {
      copy_elements(call, to, (o * shape[axis] + index) * inner, inner);
      to += inner;
    }
  }
  return {};
}

Status gather_elements(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(2, 2));
  const Shape& shape = call.inputs[0].shape;
  const HostTensor& indices = call.inputs[1];
  ATTUNE_ASSIGN(const std::size_t axis, call.axis(call.integer("axis", 0), shape.rank()));
  if (!fits_along(indices.shape, shape, axis)) return call.bad("indices do not fit the data");
  ATTUNE_ASSIGN(auto places, load_indices(call, indices, shape[axis]));
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, call.inputs[0].type, indices.shape));
  if (!call.has_output(0)) return {};
  to_offsets(places, indices.shape, shape, axis);
  std::int64_t to = 0;
  for (const std::int64_t from : places) copy_elements(call, to++, from, 1);
  return {};
}

Status gather_nd(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(2, 2));
  const Shape& shape = call.inputs[0].shape;
  const HostTensor& indices = call.inputs[1];
  const std::int64_t batch_dims = call.integer("batch_dims", 0);
  const auto rank = static_cast<std::int64_t>(shape.rank());
  const auto index_rank = static_cast<std::int64_t>(indices.shape.rank());
  ATTUNE_RETURN_IF_ERROR(check_indices(call, indices));
  if (index_rank == 0 || batch_dims < 0 || batch_dims >= index_rank || batch_dims > rank) {
    return call.bad("indices do not fit the data");
  }
  const std::int64_t depth = indices.shape[indices.shape.rank() - 1];
  if (depth < 0 || depth > rank - batch_dims) return call.bad("indices do not fit the data");
  const auto batches = static_cast<std::size_t>(batch_dims);
  for (std::size_t d = 0; d < batches; ++d) {
    if (indices.shape[d] != shape[d]) return call.bad("indices do not fit the data");
  }
  Shape result(indices.shape.span().first(indices.shape.rank() - 1));
  const Shape slice(shape.span().subspan(batches + static_cast<std::size_t>(depth)));
  ATTUNE_RETURN_IF_ERROR(checked_rank(call, result.rank() + slice.rank()));
  const std::int64_t batch_count = Shape(shape.span().first(batches)).elements();
  const std::int64_t picks = result.elements();
  for (const std::int64_t extent : slice.span()) result.push_back(extent);
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, call.inputs[0].type, result));
  if (!call.has_output(0)) return {};
  const Shape strides = row_major_strides(shape);
  const std::int64_t batch_stride = Shape(shape.span().subspan(batches)).elements();
  for (std::int64_t i = 0; i < picks; ++i) {
    std::int64_t from = i / (picks / batch_count) * batch_stride;
    for (std::int64_t d = 0; d < depth; ++d) {
      const std::size_t axis = batches + static_cast<std::size_t>(d);
      const std::int64_t given = integer_at(indices, i * depth + d);
      std::int64_t index = given;
      if (!wrap_index(index, shape[axis])) return out_of_range(call, given, shape[axis]);
      from += index * strides[axis];
    }
    copy_elements(call, i * slice.elements(), from, slice.elements());
  }
  return {};
}

}  // namespace attune::runtime::host

#include "runtime/host/index.h"

#include "runtime/host/elements.h"
#include "runtime/host/strides.h"

namespace attune::runtime::host {

bool wrap_index(std::int64_t& index, std::int64_t extent) {
  if (index < 0) index += extent;
  return index >= 0 && index < extent;
}

Error out_of_range(const Call& call, std::int64_t index, std::int64_t extent) {
  return call.bad("index " + std::to_string(index) + " is outside of " + std::to_string(extent) +
                  " elements");
}

bool fits_along(const Shape& indices, const Shape& data, std::size_t axis) {
  if (indices.rank() != data.rank()) return false;
  for (std::size_t d = 0; d < data.rank(); ++d) {
    if (d != axis && indices[d] > data[d]) return false;
  }
  return true;
}

void to_offsets(std::vector<std::int64_t>& wrapped, const Shape& indices, const Shape& data,
                std::size_t axis) {
  Shape strides = row_major_strides(data);
  const std::int64_t axis_stride = strides[axis];
  strides[axis] = 0;
  std::size_t i = 0;
  each_index(indices, strides, 0, [&](const Shape&, std::int64_t offset) {
    wrapped[i] = offset + wrapped[i] * axis_stride;
    ++i;
  });
}

Status check_indices(const Call& call, const HostTensor& indices) {
  if (indices.type == DType::I32 || indices.type == DType::I64) return {};
  return call.bad("indices are " + std::string(name_of(indices.type)) + ", not i32 or i64");
}

Result<std::vector<std::int64_t>> load_indices(const Call& call, const HostTensor& indices,
                                               std::int64_t extent) {
  ATTUNE_RETURN_IF_ERROR(check_indices(call, indices));
  std::vector<std::int64_t> values(static_cast<std::size_t>(indices.shape.elements()));
  load_integers(values.data(), indices, 0, 1, std::ssize(values));
  for (std::int64_t& value : values) {
    const std::int64_t given = value;
    if (!wrap_index(value, extent)) return out_of_range(call, given, extent);
  }
  return values;
}

}  // namespace attune::runtime::host

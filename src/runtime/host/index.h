// Indices as ONNX has them: negative ones count from the end.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/host/operators.h"

namespace attune::runtime::host {

// The elements of an index tensor wrapped into [0, extent); fails for one that is out of range.
Result<std::vector<std::int64_t>> load_indices(const Call& call, const HostTensor& indices,
                                               std::int64_t extent);
// One index, wrapped; false when it is out of range.
bool wrap_index(std::int64_t& index, std::int64_t extent);
Error out_of_range(const Call& call, std::int64_t index, std::int64_t extent);
// Where a tensor of indices stands for those along one axis of the data, and agrees with it in the
// others as far as it goes: whether its shape fits, and the offset in the data of what each of its
// elements, wrapped, names.
bool fits_along(const Shape& indices, const Shape& data, std::size_t axis);
void to_offsets(std::vector<std::int64_t>& wrapped, const Shape& indices, const Shape& data,
                std::size_t axis);
// That the tensor holds i32 or i64.
Status check_indices(const Call& call, const HostTensor& indices);

}  // namespace attune::runtime::host

// NonZero: the indices of the elements that are not zero, one column each, in row-major order.
#include "runtime/host/elements.h"
#include "runtime/host/list.h"
#include "runtime/host/strides.h"

namespace attune::runtime::host {

Status non_zero(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 1));
  const HostTensor& input = call.inputs[0];
  const std::int64_t elements = input.shape.elements();
  std::vector<std::int64_t> found;
  double block[kBlock];
  for (std::int64_t start = 0; start < elements; start += kBlock) {
    const std::int64_t count = std::min(kBlock, elements - start);
    // A double is zero exactly when the number it was rounded from is.
    load_reals(block, input, start, 1, count);
    for (std::int64_t i = 0; i < count; ++i) {
      if (block[i] != 0.0) found.push_back(start + i);
    }
  }
  const std::int64_t count = std::ssize(found);
  const auto rank = static_cast<std::int64_t>(input.shape.rank());
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, DType::I64, {rank, count}));
  if (!call.has_output(0)) return {};
  auto* out = static_cast<std::int64_t*>(call.outputs[0].data);
  const Shape strides = row_major_strides(input.shape);
  for (std::int64_t d = 0; d < rank; ++d) {
    const auto axis = static_cast<std::size_t>(d);
    for (const std::int64_t position : found) {
      *out++ = position / strides[axis] % input.shape[axis];
    }
  }
  return {};
}

}  // namespace attune::runtime::host

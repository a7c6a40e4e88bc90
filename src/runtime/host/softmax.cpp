// Softmax along an axis, for tensors whose size depends on data. With attribute `masked` rows of
// nothing but minus infinity become 0.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/host/elements.h"
#include "runtime/host/list.h"

namespace attune::runtime::host {

Status softmax(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 1));
  const HostTensor& input = call.inputs[0];
  ATTUNE_ASSIGN(const std::size_t axis, call.axis(call.integer("axis", -1), input.shape.rank()));
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, input.type, input.shape));
  if (!call.has_output(0)) return {};
  const bool masked = call.integer("masked", 0) != 0;
  const std::int64_t extent = input.shape[axis];
  std::int64_t inner = 1;
  for (std::size_t d = axis + 1; d < input.shape.rank(); ++d) inner *= input.shape[d];
  const std::int64_t rows = extent == 0 ? 0 : input.shape.elements() / extent;
  std::vector<double> row(static_cast<std::size_t>(extent));
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t start = i / inner * inner * extent + i % inner;
    load_reals(row.data(), input, start, inner, extent);
    const double largest = *std::max_element(row.begin(), row.end());
    const bool is_empty = masked && largest == -std::numeric_limits<double>::infinity();
    double sum = 0;
    for (double& value : row) sum += value = is_empty ? 0 : std::exp(value - largest);
    if (is_empty) sum = 1;
    for (std::int64_t k = 0; k < extent; ++k) {
      const double value = row[static_cast<std::size_t>(k)] / sum;
      store_reals(call.outputs[0], start + k * inner, &value, 1);
    }
  }
  return {};
}

}  // namespace attune::runtime::host

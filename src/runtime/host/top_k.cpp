// TopK: the k largest or smallest elements along an axis and their indices, in order; of equal
// elements the one with the lower index comes first. With k as an input, the attribute is the most
// that it may be.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "runtime/host/elements.h"
#include "runtime/host/list.h"

namespace attune::runtime::host {

Status top_k(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 2, 2));
  const HostTensor& input = call.inputs[0];
  ATTUNE_ASSIGN(const std::size_t axis, call.axis(call.integer("axis", -1), input.shape.rank()));
  std::int64_t k = call.integer("k", 0);
  if (call.has_input(1)) {
    ATTUNE_ASSIGN(const auto given, call.integers(1, "k"));
    if (!given || given->size() != 1) return call.bad("k is not one number");
    const std::int64_t most = call.integer("k", given->front());
    k = given->front();
    if (k > most) {
      return call.bad("k is " + std::to_string(k) + ", the model was compiled for at most " +
                      std::to_string(most));
    }
  }
  const std::int64_t extent = input.shape[axis];
  if (k < 0 || k > extent) {
    return call.bad("k is " + std::to_string(k) + ", the axis has " + std::to_string(extent) +
                    " elements");
  }
  Shape result = input.shape;
  result[axis] = k;
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, input.type, result));
  ATTUNE_RETURN_IF_ERROR(call.shape_output(1, DType::I64, result));
  const bool largest = call.integer("largest", 1) != 0;
  const std::int64_t outer = Shape(input.shape.span().first(axis)).elements();
  const std::int64_t inner = Shape(input.shape.span().subspan(axis + 1)).elements();
  std::vector<std::int64_t> keys(static_cast<std::size_t>(extent));
  std::vector<std::int64_t> order(keys.size());
  const std::size_t width = byte_size(input.type);
  for (std::int64_t row = 0; row < outer * inner; ++row) {
    const std::int64_t start = row / inner * extent * inner + row % inner;
    load_order_keys(keys.data(), input, start, inner, extent);
    // ~ turns the order around without overflow.
    if (largest) std::ranges::transform(keys, keys.begin(), [](std::int64_t key) { return ~key; });
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(),
                      [&](std::int64_t a, std::int64_t b) {
                        const std::int64_t x = keys[static_cast<std::size_t>(a)];
                        const std::int64_t y = keys[static_cast<std::size_t>(b)];
                        return x != y ? x < y : a < b;
                      });
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t from = order[static_cast<std::size_t>(i)];
      const std::int64_t to = row / inner * k * inner + i * inner + row % inner;
      if (call.has_output(0)) {
        std::memcpy(
            static_cast<std::byte*>(call.outputs[0].data) + static_cast<std::size_t>(to) * width,
            static_cast<const std::byte*>(input.data) +
                static_cast<std::size_t>(start + from * inner) * width,
            width);
      }
      if (call.has_output(1)) static_cast<std::int64_t*>(call.outputs[1].data)[to] = from;
    }
  }
  return {};
}

}  // namespace attune::runtime::host

// Unique: the distinct elements, or the distinct slices along an axis, with where each was first,
// the number of each element's group, and how large the groups are.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "runtime/host/elements.h"
#include "runtime/host/list.h"

namespace attune::runtime::host {
namespace {

// The tensor seen as `count` slices, each with its elements' order keys side by side.
struct Slices {
  std::int64_t count = 0;
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  std::vector<std::int64_t> keys;

  std::span<const std::int64_t> operator[](std::int64_t index) const {
    const auto length = static_cast<std::size_t>(outer * inner);
    return std::span(keys).subspan(static_cast<std::size_t>(index) * length, length);
  }
};

Slices slice(const HostTensor& input, const Shape& shape, std::size_t axis) {
  Slices slices;
  slices.count = shape[axis];
  slices.outer = Shape(shape.span().first(axis)).elements();
  slices.inner = Shape(shape.span().subspan(axis + 1)).elements();
  slices.keys.resize(static_cast<std::size_t>(shape.elements()));
  std::int64_t* to = slices.keys.data();
  for (std::int64_t i = 0; i < slices.count; ++i) {
    for (std::int64_t o = 0; o < slices.outer; ++o, to += slices.inner) {
      load_order_keys(to, input, (o * slices.count + i) * slices.inner, 1, slices.inner);
    }
  }
  return slices;
}

struct Groups {
  std::vector<std::int64_t> first;    // where each group appears first
  std::vector<std::int64_t> size;     // of each group
  std::vector<std::int64_t> inverse;  // the group of each slice
};

Groups group(const Slices& slices, bool sorted) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(slices.count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return std::ranges::lexicographical_compare(slices[a], slices[b]);
  });
  Groups groups;
  std::vector<std::int64_t> raw(order.size());  // group of each slice, groups in sorted order
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !std::ranges::equal(slices[order[i - 1]], slices[order[i]])) {
      groups.first.push_back(order[i]);  // equal slices keep their order: the first comes first
      groups.size.push_back(0);
    }
    raw[static_cast<std::size_t>(order[i])] = std::ssize(groups.first) - 1;
    ++groups.size.back();
  }
  groups.inverse = raw;
  if (sorted) return groups;
  std::vector<std::size_t> by_first(groups.first.size());
  std::iota(by_first.begin(), by_first.end(), 0);
  std::ranges::sort(by_first, {}, [&](std::size_t i) { return groups.first[i]; });
  Groups result;
  std::vector<std::int64_t> renamed(by_first.size());
  for (const std::size_t old : by_first) {
    renamed[old] = std::ssize(result.first);
    result.first.push_back(groups.first[old]);
    result.size.push_back(groups.size[old]);
  }
  for (const std::int64_t old : raw) {
    result.inverse.push_back(renamed[static_cast<std::size_t>(old)]);
  }
  return result;
}

Status give(const Call& call, std::size_t index, const std::vector<std::int64_t>& values) {
  ATTUNE_RETURN_IF_ERROR(call.shape_output(index, DType::I64, {std::ssize(values)}));
  if (call.has_output(index) && !values.empty()) {
    std::memcpy(call.outputs[index].data, values.data(), values.size() * sizeof values[0]);
  }
  return {};
}

}  // namespace

Status unique(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 1, 4));
  const HostTensor& input = call.inputs[0];
  const bool flat = !call.attributes.contains("axis");
  const Shape shape = flat ? Shape{input.shape.elements()} : input.shape;
  ATTUNE_ASSIGN(const std::size_t axis, call.axis(call.integer("axis", 0), shape.rank()));
  const Slices slices = slice(input, shape, axis);
  const Groups groups = group(slices, call.integer("sorted", 1) != 0);
  Shape result = shape;
  result[axis] = std::ssize(groups.first);
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, input.type, result));
  if (call.has_output(0)) {
    const std::size_t bytes = static_cast<std::size_t>(slices.inner) * byte_size(input.type);
    auto* to = static_cast<std::byte*>(call.outputs[0].data);
    for (std::int64_t o = 0; o < slices.outer && bytes > 0; ++o) {
      for (const std::int64_t first : groups.first) {
        const auto from = static_cast<std::size_t>(o * slices.count + first);
        std::memcpy(to, static_cast<const std::byte*>(input.data) + from * bytes, bytes);
        to += bytes;
      }
    }
  }
  ATTUNE_RETURN_IF_ERROR(give(call, 1, groups.first));
  ATTUNE_RETURN_IF_ERROR(give(call, 2, groups.inverse));
  return give(call, 3, groups.size);
}

}  // namespace attune::runtime::host

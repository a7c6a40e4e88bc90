// What is known of a tensor of a graph at compile time: element type and shape, and, for constants,
// the values. A dimension is a constant, or, where the size depends on data, the largest it can be
// together with the number of the run-time extent that says how large it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/nodes/array.h"

namespace attune::ops {

inline constexpr int kConstantExtent = -1;

struct TensorType {
  ir::DType dtype = ir::kF32;
  std::vector<std::int64_t> shape = {};  // row-major; the maximum of a run-time extent
  // Number of the run-time extent of each dimension, or kConstantExtent; empty: all are constant.
  std::vector<int> extents = {};

  int rank() const { return static_cast<int>(shape.size()); }
  bool is_static() const;
  std::int64_t elements() const;
  std::int64_t bytes() const { return elements() * dtype.element_bytes(); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// "f32[1,3,224,224]"; a run-time extent prints as "<=100".
std::string to_string(const TensorType& type);

// An immutable tensor, row-major. The bytes may lie in a memory-mapped file, which `owner` keeps.
struct Constant {
  TensorType type;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;

  // Elements by their row-major position, converted like a cast.
  double real(std::int64_t position) const;
  std::int64_t integer(std::int64_t position) const;
};
using ConstantPtr = std::shared_ptr<const Constant>;

// Constants from values of their own.
ConstantPtr make_constant(ir::Array array);
ConstantPtr make_constant(const std::vector<std::int64_t>& values);  // i64, 1-D
ConstantPtr scalar_constant(ir::DType type, double value);           // 0-D
ConstantPtr filled_constant(const TensorType& type, double value);
// The same values as another type of integers, in a shape with as many elements; null when the
// types differ otherwise or the numbers of elements do.
ConstantPtr converted(const Constant& constant, const TensorType& type);
// A copy for the interpreter.
ir::Array to_array(const Constant& constant);
// All elements as integers.
std::vector<std::int64_t> integers(const Constant& constant);

}  // namespace attune::ops

// A plain array in host memory, row-major, of any element type: what the interpreter reads and
// writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/ir/nodes/dtype.h"

namespace attune::ir {

struct Array {
  DType type = kF32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;

  Array() = default;
  // Filled with zeros.
  Array(DType element_type, std::vector<std::int64_t> extents);

  std::int64_t count() const;
  // Elements by their row-major position. set_real rounds to the type (to nearest, half to even)
  // and set_int wraps to its width; reading as the other kind converts like a cast.
  double real(std::int64_t position) const;
  std::int64_t integer(std::int64_t position) const;
  void set_real(std::int64_t position, double value);
  void set_int(std::int64_t position, std::int64_t value);
};

// Bits of the 16-bit float types. Rounding is to nearest, half to even; NaN stays NaN.
std::uint16_t f16_bits(double value);
std::uint16_t bf16_bits(double value);
double f16_value(std::uint16_t bits);
double bf16_value(std::uint16_t bits);

// The value rounded to what a float type can hold.
double round_to(DType type, double value);
// The value wrapped to the width of an integer type; 0 or 1 for bool.
std::int64_t wrap_to(DType type, std::int64_t value);
// Truncated and saturated; 0 for NaN. For bool: whether it is not 0.
std::int64_t truncate_to(DType type, double value);

}  // namespace attune::ir

// Element types of tensors, and their bit-level conversions to and from double: enough for the
// runtime to size, fill and compare buffers without knowing the compiler's types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace attune::runtime {

enum class DType : std::uint8_t {
  F32,
  F16,
  BF16,
  I8,
  U8,
  I32,
  I64,
  Bool,
  F64,
  I16,
  U16,
  U32,
  U64,
};
inline constexpr int kDTypeCount = 13;

// Bytes of one element.
std::size_t byte_size(DType type);
// "f32", "f16", "bf16", "i8", "u8", "i32", "i64", "bool", "f64", "i16", "u16", "u32", "u64".
std::string_view name_of(DType type);
std::optional<DType> parse_dtype(std::string_view name);
bool is_float(DType type);

// IEEE binary16 and bfloat16, rounding to nearest even.
std::uint16_t half_from_float(float value);
float float_from_half(std::uint16_t bits);
std::uint16_t bfloat16_from_float(float value);
float float_from_bfloat16(std::uint16_t bits);

// Element `index` of an array of the given type, as a double (rounded where the type is wider);
// Bool reads as 0 or 1.
double read_element(const void* data, DType type, std::int64_t index);
// Stores `value` converted to the type: floats round, integers truncate, Bool is value != 0.
void write_element(void* data, DType type, std::int64_t index, double value);

}  // namespace attune::runtime

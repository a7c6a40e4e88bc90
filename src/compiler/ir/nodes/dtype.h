// Element types. A DType is a kind, a width in bits and a lane count; lanes > 1 only appears in
// lowered, vectorised code. bf16 and f16 are storage types: arithmetic widens them to f32.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attune::ir {

enum class TypeKind : std::uint8_t { Float, BFloat, Int, UInt, Bool };

struct DType {
  TypeKind kind = TypeKind::Float;
  std::uint8_t bits = 32;
  std::uint16_t lanes = 1;

  friend bool operator==(const DType&, const DType&) = default;

  constexpr bool is_float() const { return kind == TypeKind::Float || kind == TypeKind::BFloat; }
  constexpr bool is_int() const { return kind == TypeKind::Int || kind == TypeKind::UInt; }
  constexpr bool is_bool() const { return kind == TypeKind::Bool; }
  constexpr bool is_scalar() const { return lanes == 1; }
  // Bytes of one element in memory; bool takes one.
  constexpr std::int64_t element_bytes() const { return bits < 8 ? 1 : bits / 8; }
  constexpr std::int64_t bytes() const { return element_bytes() * lanes; }
  constexpr DType element() const { return {kind, bits, 1}; }
  constexpr DType with_lanes(int n) const { return {kind, bits, static_cast<std::uint16_t>(n)}; }
};

inline constexpr DType kF64{TypeKind::Float, 64};
inline constexpr DType kF32{TypeKind::Float, 32};
inline constexpr DType kF16{TypeKind::Float, 16};
inline constexpr DType kBF16{TypeKind::BFloat, 16};
inline constexpr DType kI8{TypeKind::Int, 8};
inline constexpr DType kI16{TypeKind::Int, 16};
inline constexpr DType kI32{TypeKind::Int, 32};
inline constexpr DType kI64{TypeKind::Int, 64};
inline constexpr DType kU8{TypeKind::UInt, 8};
inline constexpr DType kU16{TypeKind::UInt, 16};
inline constexpr DType kU32{TypeKind::UInt, 32};
inline constexpr DType kU64{TypeKind::UInt, 64};
inline constexpr DType kBool{TypeKind::Bool, 1};
// The type of loop variables and of all index arithmetic.
inline constexpr DType kIndex = kI64;

// "f32", "bf16", "i64", "bool"; with lanes "f32x8".
std::string to_string(DType type);
// The inverse of to_string; nothing for an unknown name.
std::optional<DType> parse_dtype(std::string_view text);

}  // namespace attune::ir

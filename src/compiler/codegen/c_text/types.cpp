#include "compiler/codegen/c_text/types.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/check.h"

namespace attune::c_text {

using ir::DType;
using ir::TypeKind;

DType held_as(DType type) { return is_small_float(type) ? ir::kF32 : type.element(); }

std::string value_type(DType type) {
  switch (type.kind) {
    case TypeKind::Float:
    case TypeKind::BFloat:
      return type.bits == 64 ? "double" : "float";
    case TypeKind::Int:
      return fmt::format("int{}_t", type.bits);
    case TypeKind::UInt:
      return fmt::format("uint{}_t", type.bits);
    case TypeKind::Bool:
      return "int";
  }
  CHECK(false, "unknown type kind");
}

std::string memory_type(DType type) {
  if (is_small_float(type)) return "uint16_t";
  return type.is_bool() ? "uint8_t" : value_type(type);
}

std::string value_tag(DType type) {
  CHECK(!type.is_bool(), "truth values have mask tags");
  return ir::to_string(held_as(type));
}

std::string memory_tag(DType type) {
  if (is_small_float(type)) return "u16";
  return type.is_bool() ? "u8" : value_tag(type);
}

std::string mask_tag(int bits) { return fmt::format("i{}", bits); }

std::string int_literal(std::int64_t value, DType type) {
  if (type.kind == TypeKind::UInt && type.bits == 64) {
    return fmt::format("UINT64_C({})", static_cast<std::uint64_t>(value));
  }
  if (type.kind == TypeKind::UInt && type.bits == 32) return fmt::format("{}u", value);
  if (value == std::numeric_limits<std::int64_t>::min()) return "INT64_MIN";
  if (value == std::numeric_limits<std::int32_t>::min()) return "INT32_MIN";
  const bool is_wide = value > std::numeric_limits<std::int32_t>::max() ||
                       value < std::numeric_limits<std::int32_t>::min();
  const std::string digits = is_wide ? fmt::format("INT64_C({})", value) : fmt::format("{}", value);
  return value < 0 ? "(" + digits + ")" : digits;
}

std::string float_literal(double value, DType type) {
  const bool is_double = held_as(type).bits == 64;
  const double rounded = is_double ? value : static_cast<double>(static_cast<float>(value));
  if (std::isnan(rounded)) return is_double ? "((double)NAN)" : "NAN";
  if (std::isinf(rounded)) {
    const std::string infinity = is_double ? "(double)INFINITY" : "INFINITY";
    return rounded < 0 ? "(-" + infinity + ")" : "(" + infinity + ")";
  }
  std::string digits =
      is_double ? fmt::format("{}", rounded) : fmt::format("{}", static_cast<float>(rounded));
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  if (!is_double) digits += "f";
  if (is_small_float(type)) {
    return fmt::format("at_round_{}({})", ir::to_string(type.element()), digits);
  }
  return std::signbit(rounded) ? "(" + digits + ")" : digits;
}

}  // namespace attune::c_text

#include "compiler/ir/nodes/dtype.h"

#include <array>
#include <charconv>
#include <utility>

namespace attune::ir {
namespace {

constexpr std::array<std::pair<std::string_view, DType>, 13> kNames{{{"f64", kF64},
                                                                     {"f32", kF32},
                                                                     {"f16", kF16},
                                                                     {"bf16", kBF16},
                                                                     {"i8", kI8},
                                                                     {"i16", kI16},
                                                                     {"i32", kI32},
                                                                     {"i64", kI64},
                                                                     {"u8", kU8},
                                                                     {"u16", kU16},
                                                                     {"u32", kU32},
                                                                     {"u64", kU64},
                                                                     {"bool", kBool}}};

}  // namespace

std::string to_string(DType type) {
  for (const auto& [name, known] : kNames) {
    if (known == type.element()) {
      std::string text(name);
      if (type.lanes > 1) text += "x" + std::to_string(type.lanes);
      return text;
    }
  }
  return "unknown";
}

std::optional<DType> parse_dtype(std::string_view text) {
  const auto cross = text.find('x');
  int lanes = 1;
  if (cross != std::string_view::npos) {
    const auto digits = text.substr(cross + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), lanes);
    if (error != std::errc{} || end != digits.data() + digits.size() || lanes < 2 || lanes > 4096) {
      return std::nullopt;
    }
  }
  for (const auto& [name, known] : kNames) {
    if (name == text.substr(0, cross)) return known.with_lanes(lanes);
  }
  return std::nullopt;
}

}  // namespace attune::ir

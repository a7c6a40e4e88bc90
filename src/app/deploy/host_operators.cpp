#include "app/deploy/host_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "runtime/host/host.h"

namespace attune::deploy {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// Names that do not follow from those of graphs by capitals alone.
constexpr std::array kNames{
    Pair{"prelu", "PRelu"},        Pair{"is_nan", "IsNaN"},         Pair{"matmul", "MatMul"},
    Pair{"gather_nd", "GatherND"}, Pair{"scatter_nd", "ScatterND"}, Pair{"bit_and", "BitwiseAnd"},
    Pair{"bit_or", "BitwiseOr"},   Pair{"bit_xor", "BitwiseXor"},   Pair{"bit_not", "BitwiseNot"},
};

// Operators of graphs whose attributes mean something else than those of ONNX.
constexpr std::array<std::string_view, 3> kOthers{"slice", "pad", "repeat"};

// "non_zero" -> "NonZero".
std::string onnx_name(std::string_view op) {
  const auto known = std::find_if(kNames.begin(), kNames.end(),
                                  [&](const Pair& pair) { return pair.first == op; });
  if (known != kNames.end()) return std::string(known->second);
  std::string name;
  bool is_start = true;
  for (const char c : op) {
    if (c != '_') {
      name += is_start ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    }
    is_start = c == '_';
  }
  return name;
}

runtime::HostAttributes host_attributes(const ops::Attributes& attributes) {
  runtime::HostAttributes result;
  for (const auto& [key, value] : attributes) {
    std::visit(
        [&](const auto& v) {
          if constexpr (std::is_constructible_v<runtime::Attribute, decltype(v)>) {
            result.emplace(key, v);
          }
        },
        value);
  }
  return result;
}

}  // namespace

Result<HostOperator> host_operator(std::string_view op, const ops::Attributes& attributes) {
  HostOperator found{onnx_name(op), host_attributes(attributes)};
  bool is_known = std::find(kOthers.begin(), kOthers.end(), op) == kOthers.end();
  if (op == "on_host") {  // names the operator itself
    found.name = std::get<std::string>(attributes.at("op"));
    found.attributes.erase("op");
    is_known = true;
  }
  if (is_known && runtime::has_host(found.name)) return found;
  return unsupported(fmt::format("{} of a tensor whose size depends on data", op));
}

}  // namespace attune::deploy

#include "compiler/frontend/onnx/converters.h"

#include <map>
#include <string>
#include <utility>

namespace attune::onnx {
namespace {

// clang-format off
// One line each: domain, operator, converter, least and most inputs, attributes.
constexpr Converter kConverters[] = {
    {"", "Constant", convert_constant, 0, 0, "value sparse_value value_float value_floats value_int value_ints value_string value_strings"},
    {"", "ConstantOfShape", convert_constant_of_shape, 1, 1, "value"},
    {"", "Identity", convert_identity, 1, 1, ""},
    {"", "Shape", convert_shape, 1, 1, "start end"},
    {"", "Size", convert_size, 1, 1, ""},
};
// clang-format on

}  // namespace

std::span<const Converter> converters() { return kConverters; }

const Converter* find_converter(std::string_view domain, std::string_view op) {
  using Key = std::pair<std::string_view, std::string_view>;
  static const std::map<Key, const Converter*> table = [] {
    std::map<Key, const Converter*> result;
    for (const Converter& entry : kConverters) result.emplace(Key{entry.domain, entry.op}, &entry);
    return result;
  }();
  const auto found = table.find({domain, op});
  return found == table.end() ? nullptr : found->second;
}

}  // namespace attune::onnx

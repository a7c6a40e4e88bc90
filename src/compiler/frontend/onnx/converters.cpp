#include "compiler/frontend/onnx/converters.h"

#include <map>
#include <string>
#include <utility>

namespace attune::onnx {
namespace {

constexpr Converter kConverters[] = {
#define ATTUNE_CONVERTER(domain, op, convert, least, most, attributes) \
  {domain, op, convert, least, most, attributes},
#include "compiler/frontend/onnx/list.inc"
};

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

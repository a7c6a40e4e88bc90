// How shapes and constants of inputs are written on command lines.
#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "compiler/model/load/model.h"
#include "tensor_files/npy.h"

namespace attune::model {

Result<std::pair<std::string, ops::ConstantPtr>> parse_constant(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (text.ends_with(".npy") && equals != std::string::npos && equals > 0) {
    ATTUNE_ASSIGN(const runtime::Tensor tensor, tensor_files::read_npy(text.substr(equals + 1)));
    const auto dtype = ir::parse_dtype(runtime::name_of(tensor.type()));
    CHECK(dtype.has_value(), "every type of the runtime has its name in the compiler");
    ir::Array array(*dtype, {tensor.shape().begin(), tensor.shape().end()});
    if (tensor.bytes() > 0) std::memcpy(array.data.data(), tensor.data(), tensor.bytes());
    return std::pair(text.substr(0, equals), ops::make_constant(std::move(array)));
  }
  auto numbers = parse_shape(text);
  if (!numbers.ok() || numbers->second.empty()) {
    return invalid(
        fmt::format("constant '{}' is not of the form NAME=3, NAME=1,2 or NAME=FILE.npy", text),
        "write --constant k=3");
  }
  return std::pair(numbers->first, ops::make_constant(numbers->second));
}

Result<std::pair<std::string, std::vector<std::int64_t>>> parse_maximum(const std::string& text) {
  auto numbers = parse_shape(text);
  if (numbers.ok() && !numbers->second.empty()) return numbers;
  return invalid(fmt::format("largest value '{}' is not of the form NAME=10 or NAME=640,480", text),
                 "write --max k=10");
}

Result<std::pair<std::string, std::vector<std::int64_t>>> parse_shape(const std::string& text) {
  const auto wrong = [&] {
    return invalid(fmt::format("shape '{}' is not of the form NAME=1,3,224,224", text),
                   "write --shape input=1,3,224,224");
  };
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return wrong();
  std::vector<std::int64_t> shape;
  const char* next = text.data() + equals + 1;
  const char* const end = text.data() + text.size();
  while (next != end) {
    std::int64_t extent = 0;
    const auto parsed = std::from_chars(next, end, extent);
    if (parsed.ec != std::errc() || extent < 0) return wrong();
    shape.push_back(extent);
    next = parsed.ptr;
    if (next == end) break;
    if (*next != ',' || next + 1 == end) return wrong();
    ++next;
  }
  return std::pair(text.substr(0, equals), std::move(shape));
}

}  // namespace attune::model

#include "compiler/ops/definitions/indexing.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::ops {

ir::Expr clamped(ir::Expr index, std::int64_t extent) {
  return ir::max(ir::min(std::move(index), ir::Expr(extent - 1)), ir::Expr(0));
}

ir::Expr data_index(const ir::Expr& value, std::int64_t extent) {
  const ir::Expr index = ir::cast(ir::kIndex, value);
  return clamped(ir::select(index < 0, index + ir::Expr(extent), index), extent);
}

void require(ir::Expr& condition, const ir::Expr& more) {
  condition = condition ? condition && more : more;
}

ir::Expr select_if(const ir::Expr& condition, const ir::Expr& value, const ir::Expr& otherwise) {
  return condition ? ir::select(condition, value, otherwise) : value;
}

ir::Expr imm(ir::DType type, double value) {
  return type.is_float() ? ir::float_imm(value, type)
                         : ir::int_imm(static_cast<std::int64_t>(value), type);
}

ir::DType sum_type(ir::DType type) {
  if (type.is_float()) return type == ir::kF64 ? ir::kF64 : ir::kF32;
  return type.bits < 32 ? ir::kI32 : type;
}

bool all_are(const Shape& numbers, std::int64_t number) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](std::int64_t element) { return element == number; });
}

std::int64_t product_of(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t product = 1;
  for (std::size_t i = begin; i < end; ++i) product *= shape[i];
  return product;
}

Error does_not_fit(const OpCall& call, const std::string& what) {
  std::string text;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.has(i)) text += (text.empty() ? "" : ", ") + to_string(call.inputs[i]);
  }
  return invalid(fmt::format("{} of {}: {}", call.name, text, what));
}

Status require_static(const OpCall& call) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.has(i) && !call.inputs[i].is_static()) {
      return unsupported(fmt::format("{} of {}, whose size depends on data", call.name,
                                     to_string(call.inputs[i])));
    }
  }
  return {};
}

}  // namespace attune::ops

// Views: the elements of the input, in order, under another shape.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

Result<std::vector<TensorType>> infer_reshape(const OpCall& call) {
  TensorType type = call.inputs[0];
  if (!type.is_static()) {
    return unsupported(fmt::format("reshape of {}, whose size depends on data", to_string(type)));
  }
  type.shape = call.integers("shape");
  if (type.elements() != call.inputs[0].elements()) {
    return invalid(fmt::format("{} cannot be reshaped to [{}]", to_string(call.inputs[0]),
                               fmt::join(type.shape, ",")));
  }
  return std::vector{type};
}

// The index of an element by its row-major position.
std::vector<ir::Expr> index_at(const std::vector<std::int64_t>& shape, ir::Expr position) {
  std::vector<ir::Expr> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = i == 0 ? position : position % ir::Expr(shape[i]);
    position = position / ir::Expr(shape[i]);
  }
  return index;
}

ir::Expr reshape_element(const OpCall& call, const std::vector<Read>& inputs,
                         const std::vector<ir::Expr>& index) {
  const std::vector<std::int64_t>& shape = call.integers("shape");
  ir::Expr position = 0;
  for (std::size_t i = 0; i < shape.size(); ++i)
    position = position * ir::Expr(shape[i]) + index[i];
  return inputs[0](index_at(call.inputs[0].shape, position));
}

// Rows of the result are parts of rows.
bool cuts_rows(const OpCall& call) {
  return call.inputs[0].shape.back() % call.integers("shape").back() == 0;
}
bool always(const OpCall& /*call*/) { return true; }

Result<std::vector<TensorType>> infer_unchanged(const OpCall& call) {
  return std::vector{call.inputs[0]};
}

ir::Expr same_element(const OpCall& /*call*/, const std::vector<Read>& inputs,
                      const std::vector<ir::Expr>& index) {
  return inputs[0](index);
}

}  // namespace

std::vector<OpDef> view_operators() {
  return {
      by_element("reshape", OpKind::View, infer_reshape, reshape_element,
                 {.keeps_rows = cuts_rows, .does_nothing = always}),
      // The same tensor; its value lies in memory in another layout.
      by_element("relayout", OpKind::Injective, infer_unchanged, same_element, {.narrow = true}),
      // A value under another name: outputs of models that are inputs or constants too.
      by_element("identity", OpKind::View, infer_unchanged, same_element,
                 {.keeps_rows = always, .does_nothing = always}),
  };
}

}  // namespace attune::ops

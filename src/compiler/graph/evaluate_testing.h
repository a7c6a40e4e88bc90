// Runs single operators on small tensors, for tests of what they mean.
#pragma once

#include <string>

#include "base/check.h"
#include "compiler/graph/builder.h"

namespace attune::graph {

using Numbers = std::vector<double>;
using Extents = std::vector<std::int64_t>;

inline ConstantPtr tensor(ir::DType type, Extents shape, const Numbers& values) {
  ir::Array array(type, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i) {
    array.set_real(static_cast<std::int64_t>(i), values[i]);
  }
  return ops::make_constant(std::move(array));
}

// 0, 1, 2, …
inline ConstantPtr iota(Extents shape, ir::DType type = ir::kF32) {
  ir::Array array(type, std::move(shape));
  for (std::int64_t i = 0; i < array.count(); ++i) array.set_real(i, static_cast<double>(i));
  return ops::make_constant(std::move(array));
}

inline ops::OpCall call_on(std::string_view op, const std::vector<ConstantPtr>& inputs,
                           Attributes attributes) {
  ops::OpCall call{op, std::move(attributes), {}, {}, inputs, {}};
  for (const ConstantPtr& input : inputs) {
    call.present.push_back(input != nullptr);
    call.inputs.push_back(input == nullptr ? TensorType{} : input->type);
  }
  return call;
}

struct Evaluated {
  Extents shape;
  Numbers values;
  friend bool operator==(const Evaluated&, const Evaluated&) = default;
};

inline Evaluated run(std::string_view op, const std::vector<ConstantPtr>& inputs,
                     Attributes attributes) {
  const auto result = evaluate(call_on(op, inputs, std::move(attributes)), {});
  CHECK(result.ok(), std::string(op) + ": " + result.error().message);
  Evaluated evaluated{result->front()->type.shape, {}};
  for (std::int64_t i = 0; i < result->front()->type.elements(); ++i) {
    evaluated.values.push_back(result->front()->real(i));
  }
  return evaluated;
}

inline std::string error_of(std::string_view op, const std::vector<ConstantPtr>& inputs,
                            Attributes attributes) {
  const auto types = ops::find_operator(op)->infer(call_on(op, inputs, std::move(attributes)));
  return types.ok() ? "" : types.error().message;
}

}  // namespace attune::graph

#include "compiler/graph/program.h"

#include <fmt/format.h>

namespace attune::graph {
namespace {

std::vector<ir::Expr> variables(const std::vector<ir::Axis>& axes) {
  std::vector<ir::Expr> index;
  for (const ir::Axis& axis : axes) index.push_back(ir::axis_var(axis));
  return index;
}

ir::Expr elementwise_value(const ops::OpDef& def, const ops::OpCall& call,
                           const std::vector<ops::Read>& inputs,
                           const std::vector<ir::Expr>& index) {
  std::vector<ir::Expr> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    values.push_back(call.has(i) ? inputs[i](ops::broadcast_index(call.inputs[i].shape, index))
                                 : ir::Expr());
  }
  return def.scalar(call, values);
}

}  // namespace

Result<ir::Buffer> add_stages(ir::Program& program, const ops::OpCall& call,
                              const std::vector<ops::Read>& inputs, const ops::TensorType& type,
                              const std::string& role) {
  const ops::OpDef* def = ops::find_operator(call.name);
  CHECK(def != nullptr, fmt::format("there is no operator '{}'", call.name));
  const std::vector<ir::Axis> axes = ops::axes_of(type.shape);
  const std::vector<ir::Expr> index = variables(axes);
  ir::Expr value;
  if (def->scalar != nullptr) {
    value = elementwise_value(*def, call, inputs, index);
  } else if (def->element != nullptr) {
    value = def->element(call, inputs, index);
  } else {
    CHECK(def->stages != nullptr, fmt::format("'{}' is no tensor expression", call.name));
    ATTUNE_ASSIGN(const ir::Buffer result, def->stages(program, call, inputs));
    value = ir::load(result, index);
  }
  return ir::add_compute(program, role, axes, ir::cast(type.dtype, value));
}

Result<ir::Program> program_of(const ops::OpCall& call) {
  const ops::OpDef* def = ops::find_operator(call.name);
  CHECK(def != nullptr, fmt::format("there is no operator '{}'", call.name));
  ATTUNE_ASSIGN(const std::vector<ops::TensorType> types, def->infer(call));
  ir::Program program{std::string(call.name), {}, {}, {}};
  std::vector<ops::Read> inputs;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.has(i)) {
      inputs.emplace_back();
      continue;
    }
    const ir::Buffer buffer = ir::add_input(program, fmt::format("in{}", i), call.inputs[i].dtype,
                                            call.inputs[i].shape, call.constants[i] != nullptr);
    inputs.emplace_back(
        [buffer](const std::vector<ir::Expr>& index) { return ir::load(buffer, index); });
  }
  ATTUNE_ASSIGN(const ir::Buffer output,
                add_stages(program, call, inputs, types.front(), "output"));
  program.outputs = {output};
  return program;
}

}  // namespace attune::graph

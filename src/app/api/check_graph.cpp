#include "app/api/check_graph.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "app/api/compare.h"
#include "app/api/runnable_model.h"
#include "app/deploy/ahead.h"
#include "compiler/graph/builder.h"
#include "compiler/kernel/element_type.h"

namespace attune::api {
namespace {

using ops::ConstantPtr;
using runtime::Tensor;

// What the interpreter manages in a second or so, and how long a person waits.
constexpr double kFlopsPerSecond = 1e7;
constexpr double kMostFlops = 6e8;

ConstantPtr constant_of(const Tensor& tensor, const ops::TensorType& type) {
  ir::Array array(type.dtype, {tensor.shape().begin(), tensor.shape().end()});
  if (tensor.bytes() > 0) std::memcpy(array.data.data(), tensor.data(), tensor.bytes());
  return ops::make_constant(std::move(array));
}

// All values of a graph, given those of its inputs.
Result<std::vector<ConstantPtr>> interpret(const graph::Graph& graph,
                                           const std::vector<ConstantPtr>& inputs) {
  std::vector<ConstantPtr> values;
  for (const graph::Value& value : graph.values) values.push_back(value.constant);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    values[static_cast<std::size_t>(graph.inputs[i])] = inputs[i];
  }
  for (const graph::Node& node : graph.nodes) {
    if (graph::operator_of(node).kind == ops::OpKind::Control) {
      return unsupported(
          fmt::format("the interpreter has no control flow, but '{}' is {}", node.name, node.op),
          "compare with reference outputs: 'attune check FOLDER'");
    }
    ops::OpCall call = graph::call_of(graph, node);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == graph::kNoValue) continue;
      call.constants[i] = values[static_cast<std::size_t>(node.inputs[i])];
      call.inputs[i] = call.constants[i]->type;
    }
    ATTUNE_ASSIGN(const std::vector<ConstantPtr> results,
                  graph::evaluate(call, deploy::run_host_on_constants));
    for (std::size_t i = 0; i < node.outputs.size() && i < results.size(); ++i) {
      if (node.outputs[i] == graph::kNoValue) continue;
      values[static_cast<std::size_t>(node.outputs[i])] = results[i];
    }
  }
  return values;
}

Tolerance tolerance_of(runtime::DType type) {
  using runtime::DType;
  if (type == DType::F16 || type == DType::BF16) return {1e-2, 1e-6, true};
  if (type == DType::I8 || type == DType::U8) return {0, 2, true};  // quantised: two steps
  if (!runtime::is_float(type)) return {0, 0, true};
  return {1e-4, 1e-7, true};
}

}  // namespace

Result<CheckCase> check_graph(const CheckOptions& options) {
  GraphOptions graph_options{
      .model = options.model, .shapes = options.shapes, .constants = options.constants};
  ATTUNE_ASSIGN(const GraphModel model, load_graph(graph_options));
  CheckCase result{.name = model.name};
  ATTUNE_ASSIGN(const RunnableModel runnable,
                load_runnable({.graph = graph_options, .schedule = options.schedule}));
  const double flops = flops_of(runnable.plan());
  if (flops > kMostFlops) {
    return unsupported(
        fmt::format("{} has {:.3g} operations, which would take the interpreter about {:.0f} "
                    "seconds",
                    model.name, flops, flops / kFlopsPerSecond),
        "compare with reference outputs: 'attune check FOLDER'");
  }
  ATTUNE_ASSIGN(const std::vector<Tensor> inputs, random_inputs(runnable.plan(), options.seed));
  ATTUNE_ASSIGN(ModelSession session, ModelSession::create(runnable, false));
  ATTUNE_RETURN_IF_ERROR(session.run(inputs));
  ATTUNE_ASSIGN(const std::vector<Tensor> outputs, session.outputs());
  std::vector<ConstantPtr> constants;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    constants.push_back(constant_of(inputs[i], model.graph.value(model.graph.inputs[i]).type));
  }
  ATTUNE_ASSIGN(const std::vector<ConstantPtr> values, interpret(model.graph, constants));
  result.status = CheckStatus::Pass;
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ops::Constant& wanted = *values[static_cast<std::size_t>(model.graph.outputs[i])];
    NamedTensor expected{runnable.plan().outputs[i].name, {}};
    ATTUNE_ASSIGN(const runtime::DType type, kernel::element_type(wanted.type.dtype));
    ATTUNE_ASSIGN(expected.tensor, Tensor::allocate(type, wanted.type.shape));
    if (!wanted.bytes.empty()) {
      std::memcpy(expected.tensor.data(), wanted.bytes.data(), wanted.bytes.size());
    }
    (void)compare(expected, outputs[i], tolerance_of(type), result);
    elements += expected.tensor.elements();
  }
  if (result.status == CheckStatus::Pass) {
    result.message = fmt::format("{} elements agree with the interpreter", elements);
  }
  return result;
}

}  // namespace attune::api

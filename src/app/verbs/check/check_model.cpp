#include "app/verbs/check/check_model.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>

#include "app/verbs/check/compare.h"
#include "compiler/graph/builder.h"
#include "compiler/model/ahead.h"
#include "compiler/model/load/caged_model.h"
#include "compiler/model/load/plain_tensor.h"
#include "compiler/model/load/runnable_model.h"
#include "runtime/memory/fill.h"
#include "tuner/measure/builder/reference.h"

namespace attune::verbs {
namespace {

using ops::ConstantPtr;
using runtime::Tensor;

// What the interpreter manages in a second or so, and how long a person waits, also where it could
// be sampled instead.
constexpr double kFlopsPerSecond = 1e7;
constexpr double kMostFlops = 6e8, kMostUnsampledFlops = 2e7;

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
                  graph::evaluate(call, model::run_host_on_constants));
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
  return {ops::tolerance_of(ops::Precision::F32, 1), 1e-7, true};
}

// The outputs of one run, as the model gives them. This process is caged from then on.
Result<std::vector<Tensor>> run_once(const model::RunnableModel& runnable,
                                     const std::vector<Tensor>& inputs) {
  ATTUNE_ASSIGN(model::ModelSession session, model::ModelSession::create(runnable, false));
  ATTUNE_RETURN_IF_ERROR(model::enter_cage(runnable));
  ATTUNE_RETURN_IF_ERROR(session.run(inputs));
  return session.outputs();
}

// Every element of every output.
Result<CheckCase> check_whole(const model::RunnableModel& runnable, const graph::Graph& graph,
                              ops::Precision precision, std::uint64_t seed) {
  const runtime::Plan& plan = runnable.plan();
  std::vector<Tensor> inputs;
  std::vector<ConstantPtr> constants;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    ATTUNE_ASSIGN(Tensor plain,
                  Tensor::allocate(plan.inputs[i].type, model::plain_shape(plan.inputs[i])));
    model::fill_input(plan.inputs[i], plain, seed, static_cast<int>(i));
    ATTUNE_ASSIGN(Tensor copy, Tensor::copy_of(plain.view()));
    ATTUNE_ASSIGN(Tensor taken, model::from_plain(plan.inputs[i], std::move(copy)));
    inputs.push_back(std::move(taken));
    constants.push_back(model::constant_of(std::move(plain), graph.value(graph.inputs[i]).type));
  }
  ATTUNE_ASSIGN(std::vector<Tensor> outputs, run_once(runnable, inputs));
  ATTUNE_ASSIGN(const std::vector<ConstantPtr> values, interpret(graph, constants));
  CheckCase result{.name = runnable.name, .status = CheckStatus::Pass};
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ops::Constant& wanted = *values[static_cast<std::size_t>(graph.outputs[i])];
    NamedTensor expected{plan.outputs[i].name, {}};
    ATTUNE_ASSIGN(expected.tensor, model::tensor_of(wanted));
    ATTUNE_ASSIGN(const Tensor actual, model::to_plain(plan.outputs[i], std::move(outputs[i])));
    // One task says how exact it is.
    const Tolerance tolerance = runnable.facts.one_task
                                    ? Tolerance{runnable.kernels.front().tolerance, 0, true}
                                    : tolerance_in(precision, graph, expected.tensor.type(),
                                                   tolerance_of(expected.tensor.type()));
    (void)compare(expected, actual, tolerance, result);
    elements += expected.tensor.elements();
  }
  if (result.status == CheckStatus::Pass) {
    result.message = fmt::format("{} elements agree with the interpreter", elements);
  }
  return result;
}

// At the places that the reference has, of one task whose inputs and weights are all random.
Result<CheckCase> check_samples(const model::RunnableModel& runnable, const ir::Program& program,
                                std::uint64_t seed) {
  std::vector<Tensor> inputs;
  int operand = 0;
  for (const ir::Input& input : program.inputs) {
    const int index = operand++;
    if (input.constant) continue;
    const runtime::InterfaceTensor& tensor = runnable.plan().inputs[inputs.size()];
    ATTUNE_ASSIGN(Tensor filled, Tensor::allocate(tensor.type, model::largest_shape(tensor)));
    runtime::fill(filled.data(), filled.type(), filled.elements(), seed, index);
    inputs.push_back(std::move(filled));
  }
  ATTUNE_ASSIGN(const std::vector<Tensor> outputs, run_once(runnable, inputs));
  ATTUNE_ASSIGN(const measure::Expectation expectation, builder::reference_of(program, seed));
  CheckCase result{.name = runnable.name};
  std::string worst;
  for (const measure::ExpectedElement& element : expectation.elements) {
    const Tensor& output = outputs[static_cast<std::size_t>(element.output)];
    const double actual = runtime::read_element(output.data(), output.type(), element.index);
    double error = std::abs(actual - element.expected);
    if (actual == element.expected || (std::isnan(actual) && std::isnan(element.expected))) {
      error = 0;
    } else if (std::isnan(error)) {
      error = std::numeric_limits<double>::infinity();
    }
    if (error <= result.max_abs_error) continue;
    result.max_abs_error = error;
    worst = fmt::format("element {} of output {} is {:.9g}, expected {:.9g}", element.index,
                        element.output, actual, element.expected);
  }
  const double tolerance = runnable.kernels.front().tolerance;
  const double magnitude = expectation.magnitude > 0 ? expectation.magnitude : 1;
  result.max_rel_error = result.max_abs_error / magnitude;
  result.status = result.max_rel_error <= tolerance ? CheckStatus::Pass : CheckStatus::Wrong;
  result.message = result.status == CheckStatus::Wrong
                       ? fmt::format("{} (tolerance {:.3g})", worst, tolerance * magnitude)
                       : fmt::format("{} elements agree", expectation.elements.size());
  return result;
}

}  // namespace

Result<CheckCase> check_model(model::LoadedModel model, const model::SourceOptions& source,
                              std::uint64_t seed) {
  const graph::Graph graph = model.graph;
  const std::string name = model.name;
  const model::ModelFacts facts = model.facts;
  const ops::Precision precision = model.precision;
  ATTUNE_ASSIGN(model::PreparedModel prepared, model::prepare_model(std::move(model), source));
  ATTUNE_ASSIGN(const model::CompiledModel compiled, model::compile_prepared(std::move(prepared)));
  ATTUNE_ASSIGN(model::RunnableModel runnable, model::runnable_of(compiled));
  runnable.facts = facts;
  const double flops = model::flops_of(runnable.plan());
  if (facts.random_constants && flops > kMostUnsampledFlops) {
    return check_samples(runnable, compiled.tasks.distinct.front().op.program, seed);
  }
  if (flops > kMostFlops) {
    return unsupported(
        fmt::format("{} has {:.3g} operations, which would take the interpreter about {:.0f} "
                    "seconds",
                    name, flops, flops / kFlopsPerSecond),
        "compare with reference outputs: 'attune check FOLDER'");
  }
  return check_whole(runnable, graph, precision, seed);
}

}  // namespace attune::verbs

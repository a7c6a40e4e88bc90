// One case of ONNX's tests: import, compile, artifact, executor; the very path that a user's model
// takes. Inputs reach the executor at run time, except integers that the shape of something needs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>

#include "app/verbs/check/compare.h"
#include "app/verbs/check/onnx_cases.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/interface.h"
#include "compiler/model/load/caged_model.h"
#include "compiler/model/load/plain_tensor.h"
#include "compiler/model/load/runnable_model.h"

namespace attune::verbs {
namespace {

using ops::ConstantPtr;
using runtime::Tensor;

struct CaseData {
  std::map<std::string, ConstantPtr, std::less<>> inputs = {};
  std::vector<NamedTensor> outputs = {};
};

Result<ConstantPtr> read_constant(const std::string& path, const onnx::InterfaceValue& value) {
  if (!value.is_tensor) return unsupported(fmt::format("'{}' is no tensor", value.name));
  ATTUNE_ASSIGN(const onnx_proto::TensorBytes bytes, onnx_proto::read_tensor(path));
  auto constant = onnx::constant_of(bytes);
  if (constant.ok()) return constant;
  return Error{constant.error().code, fmt::format("'{}': {}", value.name, constant.error().message),
               constant.error().hint};
}

std::string numbered(const std::string& folder, std::string_view kind, std::size_t index) {
  return (std::filesystem::path(folder) / fmt::format("{}_{}.pb", kind, index)).string();
}

Result<CaseData> read_data_set(const onnx::Interface& interface, const std::string& folder) {
  CaseData data;
  std::error_code ignored;
  for (std::size_t i = 0; i < interface.inputs.size(); ++i) {
    const std::string path = numbered(folder, "input", i);
    if (!std::filesystem::exists(path, ignored)) continue;
    ATTUNE_ASSIGN(data.inputs[interface.inputs[i].name], read_constant(path, interface.inputs[i]));
  }
  for (std::size_t i = 0; i < interface.outputs.size(); ++i) {
    const std::string path = numbered(folder, "output", i);
    if (!std::filesystem::exists(path, ignored)) continue;
    ATTUNE_ASSIGN(const ConstantPtr constant, read_constant(path, interface.outputs[i]));
    ATTUNE_ASSIGN(Tensor tensor, model::tensor_of(*constant));
    data.outputs.push_back({interface.outputs[i].name, std::move(tensor)});
  }
  if (data.outputs.empty()) {
    return Error{ErrorCode::NotFound, fmt::format("there are no outputs in '{}'", folder), {}};
  }
  return data;
}

bool is_integer(const ConstantPtr& constant) {
  return constant->type.dtype.is_int() || constant->type.dtype.is_bool();
}

// Imports with the shapes of the data; what must be known while compiling is bound, if it may be.
Result<model::LoadedModel> import_case(model::ModelOptions& options, const CaseData& data) {
  for (const auto& [name, constant] : data.inputs) options.shapes[name] = constant->type.shape;
  for (;;) {
    std::vector<std::string> needed;
    auto model = model::load_model(options, &needed);
    if (model.ok() && model->graph.inputs.empty() && !data.inputs.empty()) {
      // Everything is known while compiling; it is not the interpreter's answer that counts.
      options.without_folding = true;
      return model::load_model(options);
    }
    if (model.ok() || needed.empty()) return model;
    std::size_t bound = 0;
    for (const std::string& name : needed) {
      const auto found = data.inputs.find(name);
      if (found == data.inputs.end() || !is_integer(found->second)) continue;
      if (options.constants.emplace(name, found->second).second) ++bound;
    }
    if (bound == 0) return model;
  }
}

Result<std::vector<Tensor>> feed(const runtime::Plan& plan, const CaseData& data) {
  std::vector<Tensor> inputs;
  for (const runtime::InterfaceTensor& input : plan.inputs) {
    const auto found = data.inputs.find(input.name);
    if (found == data.inputs.end()) {
      return invalid(fmt::format("the case has no data for input '{}'", input.name));
    }
    ATTUNE_ASSIGN(Tensor tensor, model::tensor_of(*found->second));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

// What came out, by the names of the model's outputs.
struct Ran {
  std::vector<runtime::InterfaceTensor> names;
  std::vector<Tensor> outputs;
};

Result<Ran> run_here(model::LoadedModel loaded, const model::SourceOptions& source,
                     const CaseData& data) {
  ATTUNE_ASSIGN(const model::RunnableModel model, model::make_runnable(std::move(loaded), source));
  ATTUNE_ASSIGN(const std::vector<Tensor> inputs, feed(model.plan(), data));
  ATTUNE_ASSIGN(model::ModelSession session, model::ModelSession::create(model, false));
  ATTUNE_RETURN_IF_ERROR(model::enter_cage(model));
  ATTUNE_RETURN_IF_ERROR(session.run(inputs));
  ATTUNE_ASSIGN(std::vector<Tensor> outputs, session.outputs());
  return Ran{model.plan().outputs, std::move(outputs)};
}

Result<Ran> run_there(model::LoadedModel loaded, const model::SourceOptions& source,
                      const CaseData& data, const RunElsewhere& run) {
  ATTUNE_ASSIGN(model::PreparedModel prepared, model::prepare_model(std::move(loaded), source));
  ATTUNE_ASSIGN(const model::CompiledModel model, model::compile_prepared(std::move(prepared)));
  ATTUNE_ASSIGN(const std::vector<Tensor> inputs, feed(model.plan, data));
  ATTUNE_ASSIGN(std::vector<Tensor> outputs, run(model, inputs));
  return Ran{model.plan.outputs, std::move(outputs)};
}

// As ONNX's own runner: two units in the last place of bf16, whose 8 bits a thousandth would ask to
// be exact.
Tolerance tolerance_of(runtime::DType type) {
  Tolerance tolerance;
  if (type == runtime::DType::BF16) tolerance.relative = 0x1p-6;
  return tolerance;
}

Status check_data(const OnnxCase& test, const CaseData& data, const CheckOptions& options,
                  CheckCase& result) {
  model::ModelOptions imported = options.source.model;
  imported.model = test.model;
  ATTUNE_ASSIGN(model::LoadedModel loaded, import_case(imported, data));
  const model::SourceOptions source{.model = imported, .schedule = options.source.schedule};
  const ops::Precision precision = loaded.precision;
  const graph::Graph graph = loaded.graph;
  ATTUNE_ASSIGN(const Ran ran, options.run_elsewhere ? run_there(std::move(loaded), source, data,
                                                                 options.run_elsewhere)
                                                     : run_here(std::move(loaded), source, data));
  std::int64_t elements = 0;
  for (const NamedTensor& expected : data.outputs) {
    const auto& named = ran.names;
    const auto found = std::find_if(named.begin(), named.end(), [&](const auto& output) {
      return output.name == expected.name;
    });
    if (found == named.end()) return invalid(fmt::format("there is no output '{}'", expected.name));
    result.by_rounding +=
        compare(expected, ran.outputs[static_cast<std::size_t>(found - named.begin())],
                tolerance_in(precision, graph, expected.tensor.type(),
                             tolerance_of(expected.tensor.type())),
                result);
    elements += expected.tensor.elements();
  }
  if (result.status == CheckStatus::Wrong) return {};
  result.status = CheckStatus::Pass;
  result.message = fmt::format("{} elements agree", elements);
  if (result.by_rounding > 0) {
    result.message +=
        fmt::format(", {} of them but for the rounding of the largest", result.by_rounding);
  }
  std::vector<std::string> bound;
  for (const auto& [name, constant] : imported.constants) bound.push_back(name);
  if (!bound.empty()) {
    result.message += fmt::format("; known while compiling: {}", fmt::join(bound, ", "));
  }
  return {};
}

// The one input of a light model: 0, 1/n, 2/n, …
Result<CaseData> light_data(const OnnxCase& test, const onnx::Interface& interface) {
  model::ModelOptions options;
  options.model = test.model;
  ATTUNE_ASSIGN(const model::LoadedModel model, model::load_model(options));
  if (model.graph.inputs.size() != 1 || interface.outputs.empty()) {
    return unsupported(
        fmt::format("a light model has one input, this one has {}", model.graph.inputs.size()));
  }
  const graph::Value& input = model.graph.value(model.graph.inputs[0]);
  ir::Array array(input.type.dtype, input.type.shape);
  const auto count = static_cast<double>(array.count());
  for (std::int64_t i = 0; i < array.count(); ++i) {
    array.set_real(i, static_cast<double>(i) / count);
  }
  CaseData data;
  data.inputs[input.name] = ops::make_constant(std::move(array));
  ATTUNE_ASSIGN(const ConstantPtr output,
                read_constant(test.light_output, interface.outputs.front()));
  ATTUNE_ASSIGN(Tensor tensor, model::tensor_of(*output));
  data.outputs.push_back({interface.outputs.front().name, std::move(tensor)});
  return data;
}

}  // namespace

Result<CheckCase> check_onnx_case(const OnnxCase& test, std::size_t data_set,
                                  const CheckOptions& options) {
  CheckCase result{.name = test.name};
  ATTUNE_ASSIGN(const onnx_proto::ModelFile file, onnx_proto::read_model(test.model));
  const onnx::Interface interface = onnx::interface_of(file);
  if (!test.light_output.empty()) {
    ATTUNE_ASSIGN(const CaseData data, light_data(test, interface));
    ATTUNE_RETURN_IF_ERROR(check_data(test, data, options, result));
    return result;
  }
  if (test.data_sets.empty()) {
    return Error{ErrorCode::NotFound, fmt::format("there is no test data beside '{}'", test.model),
                 "'attune check' of the file alone compares with the interpreter"};
  }
  ATTUNE_ASSIGN(const CaseData data, read_data_set(interface, test.data_sets[data_set]));
  ATTUNE_RETURN_IF_ERROR(check_data(test, data, options, result));
  return result;
}

}  // namespace attune::verbs

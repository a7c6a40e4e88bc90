#include "app/verbs/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "app/verbs/input_files.h"
#include "base/clock.h"
#include "base/isolated.h"
#include "compiler/model/load/plain_tensor.h"
#include "compiler/model/load/runnable_model.h"
#include "tensor_files/npy.h"

namespace attune::verbs {
namespace {

using runtime::Tensor;

Bytes pack(double milliseconds, const std::vector<Tensor>& outputs) {
  Bytes bytes;
  append_value(bytes, milliseconds);
  for (const Tensor& output : outputs) {
    append_value(bytes, output.type());
    append_value(bytes, output.shape().size());
    for (const std::int64_t extent : output.shape()) append_value(bytes, extent);
    const char* first = static_cast<const char*>(output.data());
    bytes.insert(bytes.end(), first, first + output.bytes());
  }
  return bytes;
}

Result<Tensor> take_tensor(std::span<const char>& bytes) {
  const auto type = take_value<runtime::DType>(bytes);
  std::vector<std::int64_t> shape(take_value<std::size_t>(bytes));
  for (std::int64_t& extent : shape) extent = take_value<std::int64_t>(bytes);
  ATTUNE_ASSIGN(Tensor tensor, Tensor::allocate(type, std::move(shape)));
  CHECK(bytes.size() >= tensor.bytes(), "a child's answer is too short");
  if (tensor.bytes() > 0) std::memcpy(tensor.data(), bytes.data(), tensor.bytes());
  bytes = bytes.subspan(tensor.bytes());
  return tensor;
}

// Two outputs whose names become the same file would overwrite each other.
std::string free_path(const std::string& directory, const std::string& name,
                      std::set<std::string>& taken) {
  std::string path = tensor_files::npy_path(directory, name);
  for (int i = 1; !taken.insert(path).second; ++i) {
    path = tensor_files::npy_path(directory, name + "_" + std::to_string(i));
  }
  return path;
}

// The operands of an operator are its inputs and its weights.
Status check_files(const model::LoadedModel& model, const RunOptions& options) {
  if (!options.images.empty()) return unsupported("operators take no images", "use --input");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < model.graph.values.size(); ++i) {
    const graph::Value& value = model.graph.values[i];
    const auto& inputs = model.graph.inputs;
    const bool is_input =
        std::find(inputs.begin(), inputs.end(), static_cast<int>(i)) != inputs.end();
    if (is_input || is_weight(value)) names.push_back(value.name);
  }
  for (const NamedFile& file : options.inputs) {
    if (file.name.empty()) {
      return unsupported("operators take .npy files, each with a name", "write --input a=x.npy");
    }
    if (std::find(names.begin(), names.end(), file.name) != names.end()) continue;
    return invalid(
        fmt::format("{} has no input '{}'", model.name.substr(0, model.name.find(':')), file.name),
        fmt::format("its inputs are {}", fmt::join(names, ", ")));
  }
  return {};
}

// Runs it in a child and brings the outputs, after how long it took, here.
Result<Bytes> run_once(const model::RunnableModel& model, const std::vector<Tensor>& inputs) {
  return run_isolated(model.name, [&]() -> Result<Bytes> {
    const SteadyClock clock;
    ATTUNE_ASSIGN(model::ModelSession session, model::ModelSession::create(model, true));
    const std::int64_t start = clock.now_ns();
    ATTUNE_RETURN_IF_ERROR(session.run(inputs));
    const double milliseconds = seconds_between(start, clock.now_ns()) * 1e3;
    ATTUNE_ASSIGN(const std::vector<Tensor> outputs, session.outputs());
    return pack(milliseconds, outputs);
  });
}

}  // namespace

Result<NamedFile> parse_named_file(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos && text.ends_with(".npz")) return NamedFile{"", text};
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return invalid(fmt::format("input '{}' is not of the form NAME=FILE", text),
                   "write --input a=x.npy");
  }
  return NamedFile{text.substr(0, equals), text.substr(equals + 1)};
}

Result<RunReport> run(const RunOptions& given) {
  RunOptions options = given;
  options.source.model.seed = options.seed;
  ATTUNE_ASSIGN(model::LoadedModel loaded, model::load_model(options.source.model));
  if (loaded.is_operator()) ATTUNE_RETURN_IF_ERROR(check_files(loaded, options));
  ATTUNE_ASSIGN(std::vector<tensor_files::TensorSummary> weights,
                bind_weights(loaded, options.inputs));
  ATTUNE_ASSIGN(const model::RunnableModel model,
                model::make_runnable(std::move(loaded), options.source));
  ATTUNE_ASSIGN(GivenInputs inputs, gather_inputs(model, options));
  RunReport report{
      .model = model.name, .schedule_text = model.schedule_text, .fallbacks = model.fallbacks};
  report.inputs = std::move(inputs.summaries);
  for (tensor_files::TensorSummary& weight : weights) report.inputs.push_back(std::move(weight));
  if (!options.output.empty()) ATTUNE_RETURN_IF_ERROR(tensor_files::make_directory(options.output));
  ATTUNE_ASSIGN(const Bytes answer, run_once(model, inputs.tensors));
  std::span<const char> bytes = answer;
  report.milliseconds = take_value<double>(bytes);
  std::set<std::string> taken;
  for (const runtime::InterfaceTensor& output : model.plan().outputs) {
    ATTUNE_ASSIGN(Tensor made, take_tensor(bytes));
    ATTUNE_ASSIGN(const Tensor tensor, model::to_plain(output, std::move(made)));
    report.outputs.push_back(tensor_files::summarize(output.name, tensor, options.top));
    if (options.output.empty()) continue;
    const std::string path = free_path(options.output, output.name, taken);
    ATTUNE_RETURN_IF_ERROR(tensor_files::write_npy(path, tensor));
    report.outputs.back().path = path;
  }
  return report;
}

std::string to_json(const RunReport& report) {
  nlohmann::ordered_json json{{"model", report.model}, {"schedule", report.schedule_text}};
  json["inputs"] = nlohmann::ordered_json::array();
  json["outputs"] = nlohmann::ordered_json::array();
  for (const tensor_files::TensorSummary& tensor : report.inputs)
    json["inputs"].push_back(tensor_files::json_of(tensor));
  for (const tensor_files::TensorSummary& tensor : report.outputs)
    json["outputs"].push_back(tensor_files::json_of(tensor));
  json["latency_ms"] = report.milliseconds;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace attune::verbs

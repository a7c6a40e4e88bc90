#include "app/verbs/run.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/answer_reader.h"
#include "base/clock.h"
#include "base/isolated.h"
#include "compiler/model/load/caged_model.h"
#include "compiler/model/load/plain_tensor.h"
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

// Of the type and no larger than the plan says.
Result<Tensor> take_tensor(AnswerReader& reader, const runtime::InterfaceTensor& planned) {
  const auto type = reader.value<runtime::DType>();
  std::vector<std::int64_t> shape(reader.count(sizeof(std::int64_t)));
  for (std::int64_t& extent : shape) extent = reader.value<std::int64_t>();
  ATTUNE_RETURN_IF_ERROR(reader.status());
  bool fits = type == planned.type && shape.size() == planned.dims.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    fits = shape[i] >= 0 && shape[i] <= planned.dims[i].maximum;
  }
  if (!fits) {
    return Error{ErrorCode::Io, "output '" + planned.name + "' is not what the plan says", ""};
  }
  ATTUNE_ASSIGN(Tensor tensor, Tensor::allocate(type, std::move(shape)));
  const std::span<const char> contents = reader.take(tensor.bytes());
  ATTUNE_RETURN_IF_ERROR(reader.status());
  if (tensor.bytes() > 0) std::memcpy(tensor.data(), contents.data(), contents.size());
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

// Runs it in a child and brings the outputs, after how long it took, here.
Result<Bytes> run_once(const model::RunnableModel& model, const std::vector<Tensor>& inputs,
                       double timeout_seconds) {
  const auto work = [&]() -> Result<Bytes> {
    const SteadyClock clock;
    ATTUNE_ASSIGN(model::ModelSession session, model::ModelSession::create(model, true));
    ATTUNE_RETURN_IF_ERROR(model::enter_cage(model));
    const std::int64_t start = clock.now_ns();
    ATTUNE_RETURN_IF_ERROR(session.run(inputs));
    const double milliseconds = seconds_between(start, clock.now_ns()) * 1e3;
    ATTUNE_ASSIGN(const std::vector<Tensor> outputs, session.outputs());
    return pack(milliseconds, outputs);
  };
  return run_isolated(model.name, work, model::limits_with_outputs(model, timeout_seconds));
}

}  // namespace

Result<RunReport> run(const RunOptions& options) {
  model::SourceOptions source = options.source;
  source.model.seed = options.seed;
  ATTUNE_ASSIGN(model::ModelWithInputs opened,
                model::load_with_inputs(source, options.files, options.seed));
  const model::RunnableModel& model = opened.model;
  RunReport report{.model = model.name,
                   .precision = model.plan().precision,
                   .schedule_text = model.schedule_text,
                   .fallbacks = model.fallbacks};
  report.inputs = std::move(opened.summaries);
  if (!options.output.empty()) ATTUNE_RETURN_IF_ERROR(tensor_files::make_directory(options.output));
  ATTUNE_ASSIGN(const Bytes answer, run_once(model, opened.inputs, options.timeout_seconds));
  AnswerReader reader(answer);
  report.milliseconds = reader.value<double>();
  std::set<std::string> taken;
  for (const runtime::InterfaceTensor& output : model.plan().outputs) {
    ATTUNE_ASSIGN(Tensor made, take_tensor(reader, output));
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
  nlohmann::ordered_json json{
      {"model", report.model}, {"precision", report.precision}, {"schedule", report.schedule_text}};
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

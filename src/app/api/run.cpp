#include "app/api/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "app/api/executable.h"
#include "app/api/graph_model.h"
#include "app/api/isolated.h"
#include "app/api/npy.h"
#include "app/api/plain_tensor.h"
#include "app/api/run_graph.h"
#include "base/clock.h"
#include "runtime/fill.h"

namespace attune::api {
namespace {

using runtime::Tensor;

// Fills the inputs from files, and the others with random numbers; summaries of all of them.
Result<std::vector<TensorSummary>> load_inputs(const OperatorModel& model,
                                               const RunOptions& options, Executable& executable) {
  const std::vector<ir::Input>& inputs = model.task.program.inputs;
  std::vector<std::string> names;
  for (const ir::Input& input : inputs) names.push_back(input.buffer->name);
  if (!options.images.empty()) return unsupported("operators take no images", "use --input");
  for (const NamedFile& file : options.inputs) {
    if (file.name.empty()) {
      return unsupported("operators take .npy files, each with a name", "write --input a=x.npy");
    }
    if (std::find(names.begin(), names.end(), file.name) != names.end()) continue;
    return invalid(fmt::format("{} has no input '{}'", model.task.family, file.name),
                   fmt::format("its inputs are {}", fmt::join(names, ", ")));
  }
  std::vector<TensorSummary> summaries;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const PlainView view(inputs[i].buffer, model.task.blocked);
    Tensor& into = executable.inputs()[i];
    const auto given = std::find_if(options.inputs.begin(), options.inputs.end(),
                                    [&](const NamedFile& file) { return file.name == names[i]; });
    ATTUNE_ASSIGN(Tensor plain, Tensor::allocate(into.type(), view.shape()));
    if (given != options.inputs.end()) {
      ATTUNE_ASSIGN(plain, read_npy(given->path));
    } else {
      runtime::fill(plain.data(), plain.type(), plain.elements(), options.seed,
                    static_cast<int>(i));
    }
    const std::string path = given == options.inputs.end() ? "" : given->path;
    ATTUNE_RETURN_IF_ERROR(view.load(plain, into, names[i], path));
    summaries.push_back(summarize(names[i], plain, 0));
    summaries.back().random = path.empty();
    summaries.back().path = path;
  }
  return summaries;
}

// Runs the operator in a child and brings the bytes of its outputs, and how long it took, here.
Result<double> run_once(const OperatorModel& model, Executable& executable) {
  const auto work = [&]() -> Result<Bytes> {
    const SteadyClock clock;
    ATTUNE_RETURN_IF_ERROR(executable.start_threads());
    ATTUNE_RETURN_IF_ERROR(executable.prepare());
    const std::int64_t start = clock.now_ns();
    ATTUNE_RETURN_IF_ERROR(executable.run());
    const double milliseconds = seconds_between(start, clock.now_ns()) * 1e3;
    Bytes bytes;
    append_value(bytes, milliseconds);
    for (const Tensor& output : executable.outputs()) {
      const char* first = static_cast<const char*>(output.data());
      bytes.insert(bytes.end(), first, first + output.bytes());
    }
    return bytes;
  };
  ATTUNE_ASSIGN(const Bytes answer, run_isolated(model.task.spec, work));
  std::span<const char> bytes = answer;
  const auto milliseconds = take_value<double>(bytes);
  for (const Tensor& output : executable.outputs()) {
    CHECK(bytes.size() >= output.bytes(), "a child's answer is too short");
    std::memcpy(output.data(), bytes.data(), output.bytes());
    bytes = bytes.subspan(output.bytes());
  }
  return milliseconds;
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

Result<RunReport> run(const RunOptions& options) {
  if (kind_of_model(options.model.model) != ModelKind::Operator) return run_graph(options);
  ATTUNE_ASSIGN(const OperatorModel model, load_model(options.model));
  ATTUNE_RETURN_IF_ERROR(check_runs_here(model));
  ATTUNE_RETURN_IF_ERROR(check_fits_memory(model, Purpose::Run));
  ATTUNE_ASSIGN(const KnownSchedule known, known_schedule(model, options.schedule));
  ATTUNE_ASSIGN(const measure::BuiltCandidate built, build_schedule(model, known));
  ATTUNE_ASSIGN(Executable executable, Executable::load(model, built));
  RunReport report{.model = model.task.spec, .schedule_text = describe(known)};
  ATTUNE_ASSIGN(report.inputs, load_inputs(model, options, executable));
  if (!options.output.empty()) ATTUNE_RETURN_IF_ERROR(make_directory(options.output));
  ATTUNE_ASSIGN(report.milliseconds, run_once(model, executable));
  for (std::size_t i = 0; i < executable.outputs().size(); ++i) {
    const ir::Buffer& buffer = model.task.program.outputs[i];
    ATTUNE_ASSIGN(const Tensor plain,
                  PlainView(buffer, model.task.blocked).store(executable.outputs()[i]));
    report.outputs.push_back(summarize(buffer->name, plain, options.top));
    if (options.output.empty()) continue;
    report.outputs.back().path = npy_path(options.output, buffer->name);
    ATTUNE_RETURN_IF_ERROR(write_npy(report.outputs.back().path, plain));
  }
  return report;
}

std::string to_json(const RunReport& report) {
  nlohmann::ordered_json json{{"model", report.model}, {"schedule", report.schedule_text}};
  json["inputs"] = nlohmann::ordered_json::array();
  json["outputs"] = nlohmann::ordered_json::array();
  for (const TensorSummary& tensor : report.inputs) json["inputs"].push_back(json_of(tensor));
  for (const TensorSummary& tensor : report.outputs) json["outputs"].push_back(json_of(tensor));
  json["latency_ms"] = report.milliseconds;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace attune::api

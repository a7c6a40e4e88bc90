#include "app/api/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/api/executable.h"
#include "app/api/isolated.h"
#include "app/api/npy.h"
#include "app/api/plain_tensor.h"
#include "base/clock.h"
#include "runtime/fill.h"

namespace attune::api {
namespace {

using runtime::Tensor;

std::vector<std::int64_t> index_of(std::int64_t position, std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; position /= shape[d]) index[d] = position % shape[d];
  return index;
}

std::vector<TopElement> largest(const Tensor& tensor, int count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(tensor.elements()));
  std::iota(order.begin(), order.end(), 0);
  const auto value = [&](std::int64_t i) {
    return runtime::read_element(tensor.data(), tensor.type(), i);
  };
  const auto kept = std::min<std::size_t>(order.size(), static_cast<std::size_t>(count));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [&](std::int64_t a, std::int64_t b) {
                      return value(a) != value(b) ? value(a) > value(b) : a < b;
                    });
  std::vector<TopElement> top;
  for (std::size_t i = 0; i < kept; ++i) {
    top.push_back({index_of(order[i], tensor.shape()), value(order[i])});
  }
  return top;
}

TensorSummary summarize(const std::string& name, const Tensor& tensor, int top) {
  TensorSummary summary{.name = name,
                        .type = std::string(runtime::name_of(tensor.type())),
                        .shape = {tensor.shape().begin(), tensor.shape().end()}};
  double sum = 0;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const double value = runtime::read_element(tensor.data(), tensor.type(), i);
    summary.least = i == 0 ? value : std::min(summary.least, value);
    summary.most = i == 0 ? value : std::max(summary.most, value);
    sum += value;
  }
  if (tensor.elements() > 0) summary.mean = sum / static_cast<double>(tensor.elements());
  if (top > 0) summary.top = largest(tensor, top);
  return summary;
}

std::string file_name_of(std::string name) {
  for (char& c : name) {
    const bool kept =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
    if (!kept) c = '_';
  }
  return name + ".npy";
}

// Fills the inputs from files, and the others with random numbers; summaries of all of them.
Result<std::vector<TensorSummary>> load_inputs(const OperatorModel& model,
                                               const RunOptions& options, Executable& executable) {
  const std::vector<ir::Input>& inputs = model.task.program.inputs;
  std::vector<std::string> names;
  for (const ir::Input& input : inputs) names.push_back(input.buffer->name);
  for (const NamedFile& file : options.inputs) {
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

Status make_directory(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return {};
  std::string reason =
      std::filesystem::exists(path, ignored) ? "a file has this name" : failure.message();
  reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  return Error{ErrorCode::Io, fmt::format("cannot create directory '{}': {}", path, reason),
               "name another directory with --output"};
}

nlohmann::ordered_json json_of(const TensorSummary& tensor) {
  nlohmann::ordered_json json{{"name", tensor.name}, {"type", tensor.type}, {"shape", tensor.shape},
                              {"min", tensor.least}, {"max", tensor.most},  {"mean", tensor.mean}};
  if (!tensor.path.empty()) json["path"] = tensor.path;
  for (const TopElement& element : tensor.top) {
    json["top"].push_back({{"index", element.index}, {"value", element.value}});
  }
  return json;
}

}  // namespace

Result<NamedFile> parse_named_file(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return invalid(fmt::format("input '{}' is not of the form NAME=FILE", text),
                   "write --input a=x.npy");
  }
  return NamedFile{text.substr(0, equals), text.substr(equals + 1)};
}

Result<RunReport> run(const RunOptions& options) {
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
    const auto path = std::filesystem::path(options.output) / file_name_of(buffer->name);
    ATTUNE_RETURN_IF_ERROR(write_npy(path.string(), plain));
    report.outputs.back().path = path.string();
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

#include "app/api/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/api/check_graph.h"
#include "app/api/executable.h"
#include "app/api/graph_model.h"
#include "app/api/isolated.h"
#include "app/api/onnx_cases.h"
#include "compiler/ir/interpret.h"
#include "runtime/affinity.h"
#include "tuner/measure/builder/reference.h"

namespace attune::api {
namespace {

// Beyond so many operations the interpreter computes samples only; it manages some ten million a
// second.
constexpr double kWholeFlops = 2e7;

// Every element of every output.
Result<measure::Expectation> expect_all(const ir::Program& program, Executable& executable,
                                        std::uint64_t seed) {
  std::vector<ir::Array> inputs;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const ir::Buffer& buffer = program.inputs[i].buffer;
    ir::Array array(buffer->type, buffer->shape);
    std::memcpy(array.data.data(), executable.inputs()[i].data(), array.data.size());
    inputs.push_back(std::move(array));
  }
  ATTUNE_ASSIGN(const std::vector<ir::Array> outputs, ir::interpret(program, inputs));
  measure::Expectation expectation;
  expectation.seed = seed;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    for (std::int64_t i = 0; i < outputs[k].count(); ++i) {
      const double value = outputs[k].type.is_float() ? outputs[k].real(i)
                                                      : static_cast<double>(outputs[k].integer(i));
      expectation.elements.push_back({static_cast<int>(k), i, value});
      if (std::isfinite(value)) {
        expectation.magnitude = std::max(expectation.magnitude, std::abs(value));
      }
    }
  }
  return expectation;
}

void compare(const measure::Expectation& expectation, const Executable& executable,
             double tolerance, CheckCase& result) {
  std::string worst;
  for (const measure::ExpectedElement& element : expectation.elements) {
    const runtime::Tensor& output = executable.outputs()[static_cast<std::size_t>(element.output)];
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
  const double magnitude = expectation.magnitude > 0 ? expectation.magnitude : 1;
  result.max_rel_error = result.max_abs_error / magnitude;
  result.status = result.max_rel_error <= tolerance ? CheckStatus::Pass : CheckStatus::Wrong;
  result.message = result.status == CheckStatus::Wrong
                       ? fmt::format("{} (tolerance {:.3g})", worst, tolerance * magnitude)
                       : fmt::format("{} elements agree", expectation.elements.size());
}

Result<CheckCase> check_model(const OperatorModel& model, const KnownSchedule& known,
                              std::uint64_t seed) {
  CheckCase result{.name = model.task.spec};
  ATTUNE_ASSIGN(const measure::BuiltCandidate built, build_schedule(model, known));
  ATTUNE_ASSIGN(Executable executable, Executable::load(model, built));
  executable.fill_inputs(seed);
  ATTUNE_RETURN_IF_ERROR(executable.start_threads());
  ATTUNE_RETURN_IF_ERROR(executable.prepare());
  ATTUNE_RETURN_IF_ERROR(executable.run());
  const ir::Program& reference = model.task.program;
  ATTUNE_ASSIGN(const measure::Expectation expectation,
                model.task.flops <= kWholeFlops ? expect_all(reference, executable, seed)
                                                : builder::reference_of(reference, seed));
  compare(expectation, executable, known.algorithm.tolerance, result);
  return result;
}

// The case as bytes for the way from the child, and back.
Bytes pack(const CheckCase& result) {
  Bytes bytes;
  append_value(bytes, result.status);
  append_value(bytes, result.max_abs_error);
  append_value(bytes, result.max_rel_error);
  append_value(bytes, result.by_rounding);
  bytes.insert(bytes.end(), result.message.begin(), result.message.end());
  return bytes;
}

void unpack(std::span<const char> bytes, CheckCase& result) {
  result.status = take_value<CheckStatus>(bytes);
  result.max_abs_error = take_value<double>(bytes);
  result.max_rel_error = take_value<double>(bytes);
  result.by_rounding = take_value<std::int64_t>(bytes);
  result.message.assign(bytes.begin(), bytes.end());
}

CheckCase failed(std::string name, const Error& error) {
  const bool unsupported_case = error.code == ErrorCode::Unsupported;
  return {.name = std::move(name),
          .status = unsupported_case ? CheckStatus::Unsupported : CheckStatus::Error,
          .message = error.message};
}

Result<Bytes> packed(const Result<CheckCase>& result) {
  if (!result.ok()) return result.error();
  return pack(*result);
}

CheckCase unpacked(std::string name, const Result<Bytes>& bytes) {
  if (!bytes.ok()) return failed(std::move(name), bytes.error());
  CheckCase result{.name = std::move(name)};
  unpack(*bytes, result);
  return result;
}

// Cases of ONNX's tests, in parallel.
Status check_cases(const CheckOptions& options,
                   const std::function<Status(const CheckCase&)>& done) {
  ATTUNE_ASSIGN(const std::vector<OnnxCase> cases, find_onnx_cases(options.model.model));
  ATTUNE_ASSIGN(const target::Target target, resolve_target(options.model));
  ATTUNE_RETURN_IF_ERROR(check_runs_here(target));
  IsolatedWork all;
  all.count = cases.size();
  all.at_once = runtime::allowed_cores().size();
  all.timeout_seconds = options.timeout_seconds;
  all.work = [&](std::size_t i) { return packed(check_onnx_case(cases[i], options)); };
  all.done = [&](std::size_t i, const Result<Bytes>& bytes) {
    return done(unpacked(cases[i].name, bytes));
  };
  return run_isolated(all);
}

Result<CheckCase> check_one(const ModelOptions& options, const CheckOptions& all) {
  ATTUNE_ASSIGN(const OperatorModel model, load_model(options));
  ATTUNE_RETURN_IF_ERROR(check_runs_here(model));
  ATTUNE_RETURN_IF_ERROR(check_fits_memory(model, Purpose::Tune));
  ATTUNE_ASSIGN(const KnownSchedule known, known_schedule(model, all.schedule));
  const Result<Bytes> bytes = run_isolated(model.task.spec, [&]() -> Result<Bytes> {
    ATTUNE_ASSIGN(const CheckCase result, check_model(model, known, all.seed));
    return pack(result);
  });
  return unpacked(model.task.spec, bytes);
}

// A whole model without reference outputs.
Result<CheckCase> check_whole(const CheckOptions& options) {
  const std::string& name = options.model.model;
  if (kind_of_model(name) == ModelKind::Artifact) {
    return unsupported(
        fmt::format("'{}' is an artifact, which has nothing to be compared with", name),
        "check the model that it was compiled from");
  }
  const Result<Bytes> bytes = run_isolated(name, [&] { return packed(check_graph(options)); });
  if (!bytes.ok()) return bytes.error();
  return unpacked(std::filesystem::path(name).stem().string(), bytes);
}

}  // namespace

std::string_view name_of(CheckStatus status) {
  switch (status) {
    case CheckStatus::Pass:
      return "pass";
    case CheckStatus::Wrong:
      return "wrong";
    case CheckStatus::Unsupported:
      return "unsupported";
    case CheckStatus::Error:
      break;
  }
  return "error";
}

Status check(const CheckOptions& options, const std::function<Status(const CheckCase&)>& done) {
  const std::string& name = options.model.model;
  std::error_code ignored;
  if (!options.all && kind_of_model(name) != ModelKind::Zoo &&
      (std::filesystem::is_directory(name, ignored) || has_onnx_case(name))) {
    return check_cases(options, done);
  }
  if (!options.all && kind_of_model(name) != ModelKind::Operator) {
    ATTUNE_ASSIGN(const CheckCase result, check_whole(options));
    return done(result);
  }
  if (!options.all) {
    ATTUNE_ASSIGN(const CheckCase result, check_one(options.model, options));
    return done(result);
  }
  for (const std::string& spec : small_operators()) {
    ModelOptions model = options.model;
    model.model = spec;
    const Result<CheckCase> result = check_one(model, options);
    ATTUNE_RETURN_IF_ERROR(done(result.ok() ? *result : failed(spec, result.error())));
  }
  return {};
}

std::string to_json(const CheckCase& result) {
  nlohmann::ordered_json json;
  json["case"] = result.name;
  json["status"] = name_of(result.status);
  json["max_abs_error"] = result.max_abs_error;
  json["max_rel_error"] = result.max_rel_error;
  json["by_rounding"] = result.by_rounding;
  json["message"] = result.message;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::vector<std::string> small_operators() {
  return {
      "matmul:m=33,n=29,k=17",
      "matmul:m=64,n=64,k=64",
      "dense:m=7,n=40,k=24",
      "batch_matmul:b=3,m=13,n=18,k=9",
      "conv2d:h=14,w=14,ic=16,oc=32,kh=3,kw=3,pad=1",
      "conv2d:h=15,w=11,ic=20,oc=24,kh=3,kw=3,stride=2,pad=1",
      "conv2d:h=12,w=12,ic=3,oc=16,kh=7,kw=7,stride=2,pad=3",
      "conv2d:h=9,w=9,ic=32,oc=32,kh=1,kw=1",
      "conv2d:h=10,w=10,ic=16,oc=16,kh=3,kw=3,pad=2,dilation=2",
      "conv2d:h=8,w=8,ic=32,oc=32,kh=3,kw=3,pad=1,groups=2",
      "conv2d:h=14,w=14,ic=16,oc=16,kh=3,kw=3,pad=1,algo=winograd4",
      "conv2d_transpose:h=7,w=7,ic=16,oc=8,kh=4,kw=4,stride=2,pad=1",
      "depthwise:h=14,w=14,c=24,k=3,stride=1",
      "depthwise:h=15,w=15,c=16,k=5,stride=2",
      "maxpool:h=14,w=14,c=16,k=3,stride=2,pad=1",
      "avgpool:h=12,w=12,c=20,k=2,stride=2,pad=0",
      "softmax:m=5,n=100",
      "layernorm:m=6,n=64",
      "reduce:m=9,n=70,op=sum",
      "elementwise:m=5,n=77,op=relu",
      "transpose:d0=4,d1=6,d2=10,perm=201",
  };
}

}  // namespace attune::api

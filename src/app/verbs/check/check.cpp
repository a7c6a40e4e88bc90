#include "app/verbs/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/verbs/check/check_model.h"
#include "app/verbs/check/onnx_cases.h"
#include "base/answer_reader.h"
#include "base/isolated.h"
#include "compiler/frontend/op_spec/small_specs.h"
#include "compiler/model/load/machine_limits.h"
#include "compiler/model/load/runnable_model.h"
#include "runtime/execution/usable_cores.h"
#include "runtime/format/artifact.h"
#include "targets/devices/devices.h"
#include "targets/kinds.h"

namespace attune::verbs {
namespace {

// The case as bytes for the way from the child, and back.
Bytes pack(const CheckCase& result) {
  Bytes bytes;
  append_value(bytes, result.status);
  append_value(bytes, result.max_abs_error);
  append_value(bytes, result.max_rel_error);
  append_value(bytes, result.by_rounding);
  append_value(bytes, result.precision);
  bytes.insert(bytes.end(), result.message.begin(), result.message.end());
  return bytes;
}

Result<CheckCase> unpack(std::span<const char> bytes) {
  AnswerReader reader(bytes);
  CheckCase result;
  result.status = reader.value<CheckStatus>();
  result.max_abs_error = reader.value<double>();
  result.max_rel_error = reader.value<double>();
  result.by_rounding = reader.value<std::int64_t>();
  result.precision = reader.value<ops::Precision>();
  result.message.assign(reader.rest().begin(), reader.rest().end());
  ATTUNE_RETURN_IF_ERROR(reader.status());
  return result;
}

CheckCase failed(std::string name, const Error& error) {
  const bool unsupported_case = error.code == ErrorCode::Unsupported;
  return {.name = std::move(name),
          .status = unsupported_case ? CheckStatus::Unsupported : CheckStatus::Error,
          .message = error.message};
}

Result<Bytes> packed(Result<CheckCase> result, ops::Precision precision) {
  if (!result.ok()) return result.error();
  result->precision = precision;
  return pack(*result);
}

CheckCase unpacked(std::string name, const Result<Bytes>& bytes) {
  if (!bytes.ok()) return failed(std::move(name), bytes.error());
  Result<CheckCase> result = unpack(*bytes);
  if (!result.ok()) return failed(std::move(name), result.error());
  result->name = std::move(name);
  return *result;
}

// One data set of a case, which is one child's work: it is caged before it runs the model, and can
// read no further one.
struct Piece {
  std::size_t number = 0;  // of the case
  std::size_t data_set = 0;
  bool last = false;  // of the case
};

std::vector<Piece> pieces_of(const std::vector<OnnxCase>& cases) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::size_t sets = std::max<std::size_t>(cases[i].data_sets.size(), 1);
    for (std::size_t set = 0; set < sets; ++set) pieces.push_back({i, set, set + 1 == sets});
  }
  return pieces;
}

// What is known of a case after another data set; the first that is not right counts.
void add(CheckCase& whole, CheckCase piece) {
  if (whole.status != CheckStatus::Pass) return;
  piece.max_abs_error = std::max(piece.max_abs_error, whole.max_abs_error);
  piece.max_rel_error = std::max(piece.max_rel_error, whole.max_rel_error);
  piece.by_rounding += whole.by_rounding;
  whole = std::move(piece);
}

// Cases of ONNX's tests, in parallel.
Status check_cases(const CheckOptions& options,
                   const std::function<Status(const CheckCase&)>& done) {
  ATTUNE_ASSIGN(const std::vector<OnnxCase> cases, find_onnx_cases(options.source.model.model));
  ATTUNE_ASSIGN(const target::Target target, model::resolve_target(options.source.model));
  if (!options.run_elsewhere) ATTUNE_RETURN_IF_ERROR(model::check_runs_here(target));
  const std::vector<Piece> pieces = pieces_of(cases);
  const auto asked = options.source.model.precision.value_or(ops::Precision::F32);
  IsolatedWork all;
  all.count = pieces.size();
  all.at_once = runtime::usable_cores().size();
  all.limits.seconds = options.timeout_seconds;
  all.limits.limits_addresses = !targets::kind_of(target).requirements(target).own_memory;
  all.work = [&](std::size_t i) {
    return packed(check_onnx_case(cases[pieces[i].number], pieces[i].data_set, options),
                  model::precision_on(target, asked));
  };
  CheckCase whole{.status = CheckStatus::Pass};
  all.done = [&](std::size_t i, const Result<Bytes>& bytes) -> Status {
    add(whole, unpacked(cases[pieces[i].number].name, bytes));
    if (!pieces[i].last) return {};
    return done(std::exchange(whole, {.status = CheckStatus::Pass}));
  };
  return run_isolated(all);
}

// An artifact has nothing to be compared with; who made it and whether it is whole can be told.
Result<CheckCase> check_signed(const model::SourceOptions& source) {
  const std::string& path = source.model.model;
  ATTUNE_ASSIGN(const runtime::Artifact artifact,
                runtime::Artifact::open(path, targets::devices(), source.trust));
  ATTUNE_RETURN_IF_ERROR(model::check_compiled_so(source.model, artifact.plan()));
  ATTUNE_RETURN_IF_ERROR(artifact.verify_all_weights());
  return CheckCase{
      .name = path, .status = CheckStatus::Pass, .message = "signed by a trusted key, and whole"};
}

// A model without reference outputs.
Result<CheckCase> check_alone(const CheckOptions& options) {
  model::SourceOptions source = options.source;
  source.model.seed = options.seed;
  ATTUNE_ASSIGN(model::LoadedModel model, model::load_model(source.model));
  if (source.trust && model.is_artifact) return check_signed(source);
  ATTUNE_ASSIGN(model, model::as_source(std::move(model), "has nothing to be compared with",
                                        "check the model that it was compiled from"));
  ATTUNE_RETURN_IF_ERROR(model::check_runs_here(model.target));
  ATTUNE_RETURN_IF_ERROR(model::check_fits_memory(model, model::Purpose::Tune));
  const std::string name = model.name;
  const bool own_memory = targets::kind_of(model.target).requirements(model.target).own_memory;
  const ops::Precision precision = model.precision;
  const Result<Bytes> bytes = run_isolated(
      name, [&] { return packed(check_model(std::move(model), source, options.seed), precision); },
      {.limits_addresses = !own_memory});
  if (!bytes.ok()) return bytes.error();
  return unpacked(name, bytes);
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
  const std::string& name = options.source.model.model;
  if (!options.all && names_onnx_cases(name)) return check_cases(options, done);
  if (!options.all) {
    ATTUNE_ASSIGN(const CheckCase result, check_alone(options));
    return done(result);
  }
  for (const std::string& spec : op_spec::small_specs()) {
    CheckOptions one = options;
    one.source.model.model = spec;
    const Result<CheckCase> result = check_alone(one);
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
  json["precision"] = ops::name_of(result.precision);
  json["message"] = result.message;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace attune::verbs

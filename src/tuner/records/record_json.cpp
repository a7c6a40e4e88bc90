#include "tuner/records/record_json.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/match.h"
#include "base/read_json.h"
#include "tuner/records/json_fields.h"

namespace attune::records {
namespace {

using nlohmann::json;
using outcome::Phase;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One line; bytes that are no UTF-8 (a crashed candidate may say anything) become U+FFFD.
std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// JSON has no word for infinite and NaN; they are written as null.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json failure(Phase phase, const std::string& reason) {
  return {{"phase", outcome::name_of(phase)}, {"reason", reason}};
}

json outcome_json(const outcome::Outcome& outcome) {
  json result = std::visit(
      Match{[](const outcome::Timing& t) {
              return json{{"best_us", number(t.best_us)},
                          {"median_us", number(t.median_us)},
                          {"cv", number(t.cv)},
                          {"repeats", t.repeats},
                          {"calls_per_repeat", t.calls_per_repeat},
                          {"cut_short", t.cut_short},
                          {"cold_weights", t.cold_weights},
                          {"noisy", t.noisy},
                          {"verified", t.verified},
                          {"max_error", number(t.max_error)}};
            },
            [](const outcome::BuildFailed& f) { return failure(f.phase, f.reason); },
            [](const outcome::RunCrashed& f) {
              json fields = failure(f.phase, f.reason);
              fields["signal"] = f.signal;
              return fields;
            },
            [](const outcome::TimedOut& f) {
              json fields = failure(f.phase, f.reason);
              fields["limit_ms"] = number(f.limit_ms);
              return fields;
            },
            [](const outcome::WrongAnswer& f) {
              json fields = failure(f.phase, f.reason);
              fields["max_error"] = number(f.max_error);
              return fields;
            },
            [](const outcome::InfrastructureLost& f) { return failure(f.phase, f.reason); }},
      outcome);
  result["kind"] = outcome::kind_of(outcome);
  return result;
}

Phase read_phase(JsonFields& fields) {
  const std::string word = fields.text("phase");
  for (Phase phase : {Phase::Build, Phase::Load, Phase::Prepare, Phase::Run, Phase::Verify}) {
    if (word == outcome::name_of(phase)) return phase;
  }
  fields.fail("phase", fmt::format("has the unknown value '{}'", word));
  return Phase::Run;
}

outcome::Timing read_timing(JsonFields& fields) {
  outcome::Timing t;
  t.best_us = fields.number("best_us", kInfinity);
  t.median_us = fields.number("median_us", kInfinity);
  t.cv = fields.number("cv", kInfinity);
  t.repeats = fields.integer<int>("repeats");
  t.calls_per_repeat = fields.integer<std::int64_t>("calls_per_repeat");
  t.cut_short = fields.boolean("cut_short");
  t.cold_weights = fields.boolean("cold_weights");
  t.noisy = fields.boolean("noisy");
  t.verified = fields.boolean("verified");
  t.max_error = fields.number("max_error", kInfinity);
  return t;
}

template <typename Failure>
Failure read_failure(JsonFields& fields) {
  Failure f;
  f.phase = read_phase(fields);
  f.reason = fields.text("reason");
  return f;
}

outcome::Outcome read_outcome(JsonFields& fields) {
  const std::string kind = fields.text("kind");
  if (kind == "timing") return read_timing(fields);
  if (kind == "build_failed") return read_failure<outcome::BuildFailed>(fields);
  if (kind == "infrastructure_lost") return read_failure<outcome::InfrastructureLost>(fields);
  if (kind == "run_crashed") {
    auto f = read_failure<outcome::RunCrashed>(fields);
    f.signal = fields.integer<int>("signal");
    return f;
  }
  if (kind == "timed_out") {
    auto f = read_failure<outcome::TimedOut>(fields);
    f.limit_ms = fields.number("limit_ms", kInfinity);
    return f;
  }
  if (kind == "wrong_answer") {
    auto f = read_failure<outcome::WrongAnswer>(fields);
    f.max_error = fields.number("max_error", kInfinity);
    return f;
  }
  fields.fail("kind", fmt::format("has the unknown value '{}'", kind));
  return {};
}

std::uint64_t read_hash(JsonFields& fields, const char* key) {
  const std::string digits = fields.text(key);
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, failed] = std::from_chars(digits.data(), end, value, 16);
  if (digits.size() != 16 || failed != std::errc() || stop != end) {
    fields.fail(key, "is not a hash of 16 hexadecimal digits");
  }
  return value;
}

Weights read_weights(JsonFields& fields) {
  const std::string word = fields.text("weights");
  if (word != "hot" && word != "cold") fields.fail("weights", "is neither 'hot' nor 'cold'");
  return word == "cold" ? Weights::Cold : Weights::Hot;
}

Record read_record_fields(JsonFields& fields) {
  Record record;
  record.task_key = fields.text("task_key");
  if (record.task_key.empty()) fields.fail("task_key", "is empty");
  record.task_name = fields.text("task_name");
  record.target = fields.text("target");
  if (record.target.empty()) fields.fail("target", "is empty");
  record.trace = fields.text("trace");
  record.trace_hash = read_hash(fields, "trace_hash");
  JsonFields outcome = fields.object("outcome");
  record.outcome = read_outcome(outcome);
  fields.adopt(outcome);
  record.weights = read_weights(fields);
  record.stages.build_ms = fields.number("build_ms", 0);
  record.stages.run_ms = fields.number("run_ms", 0);
  record.stages.wait_ms = fields.number("wait_ms", 0);
  record.product_version = fields.text("product_version");
  record.device = fields.text("device");
  record.noise.cv = fields.number("cv", 0);
  record.noise.sentinel_drift = fields.number("sentinel_drift", 0);
  record.seed = fields.integer<std::uint64_t>("seed");
  record.number = fields.integer<std::int64_t>("number");
  record.verified = fields.boolean("verified");
  record.created_at_ms = fields.integer<std::int64_t>("created_at_ms");
  return record;
}

TaskDefinition read_task_fields(const json& line, JsonFields& fields, std::string_view text) {
  TaskDefinition task;
  task.key = fields.text("task_key");
  if (task.key.empty()) fields.fail("task_key", "is empty");
  task.name = fields.text("task_name");
  task.flops = fields.number("flops", 0);
  const auto programs = line.find("programs");
  if (programs == line.end() || !programs->is_array() || programs->empty()) {
    fields.fail("programs", "is not a list of programs");
    return task;
  }
  for (const json& item : *programs) {
    JsonFields program(item, text);
    task.programs.push_back(
        {program.text("algorithm"), program.text("text"), program.number("tolerance", kInfinity)});
    fields.adopt(program);
  }
  return task;
}

// The library's text carries its own prefix and position; only the reason is kept.
std::string parse_reason(const std::string& what) {
  const std::size_t colon = what.find(": ");
  return colon == std::string::npos ? what : what.substr(colon + 2);
}

}  // namespace

std::string record_to_json_line(const Record& r) {
  return dump({{"schema", kRecordLineSchema},
               {"task_key", r.task_key},
               {"task_name", r.task_name},
               {"target", r.target},
               {"trace", r.trace},
               {"trace_hash", hex64(r.trace_hash)},
               {"outcome", outcome_json(r.outcome)},
               {"weights", r.weights == Weights::Cold ? "cold" : "hot"},
               {"build_ms", number(r.stages.build_ms)},
               {"run_ms", number(r.stages.run_ms)},
               {"wait_ms", number(r.stages.wait_ms)},
               {"product_version", r.product_version},
               {"device", r.device},
               {"cv", number(r.noise.cv)},
               {"sentinel_drift", number(r.noise.sentinel_drift)},
               {"seed", r.seed},
               {"number", r.number},
               {"verified", r.verified},
               {"created_at_ms", r.created_at_ms}});
}

std::string task_to_json_line(const TaskDefinition& task) {
  json programs = json::array();
  for (const TaskDefinition::Program& program : task.programs) {
    programs.push_back({{"algorithm", program.algorithm},
                        {"text", program.text},
                        {"tolerance", number(program.tolerance)}});
  }
  return dump({{"schema", kTaskLineSchema},
               {"task_key", task.key},
               {"task_name", task.name},
               {"flops", number(task.flops)},
               {"programs", std::move(programs)}});
}

std::variant<Record, TaskDefinition, LineProblem> parse_json_line(std::string_view line) {
  if (json_depth(line) > kDeepestJson) {
    return LineProblem{1, 1, fmt::format("it is nested more than {} deep", kDeepestJson)};
  }
  json parsed;
  try {
    parsed = json::parse(line);
  } catch (const json::parse_error& error) {
    return LineProblem{1, std::max<std::size_t>(error.byte, 1), parse_reason(error.what())};
  } catch (const json::exception& error) {  // a number beyond all bounds
    return LineProblem{1, 1, parse_reason(error.what())};
  }
  JsonFields fields(parsed, line);
  std::variant<Record, TaskDefinition, LineProblem> found;
  const int schema = fields.integer<int>("schema");
  if (schema == kTaskLineSchema) {
    found = read_task_fields(parsed, fields, line);
  } else {
    if (schema != kRecordLineSchema) {
      fields.fail("schema", fmt::format("is {}, this attune reads {} and {}", schema,
                                        kRecordLineSchema, kTaskLineSchema));
    }
    found = read_record_fields(fields);
  }
  if (const auto& problem = fields.problem()) {
    return LineProblem{1, problem->column, problem->message};
  }
  return found;
}

std::string outcome_to_json(const outcome::Outcome& outcome) { return dump(outcome_json(outcome)); }

Result<outcome::Outcome> outcome_from_json(std::string_view text) {
  const json parsed = read_json<json>(text);
  JsonFields fields(parsed, text);
  outcome::Outcome outcome = read_outcome(fields);
  if (const auto& problem = fields.problem()) {
    return Error{ErrorCode::Corrupt, "a stored outcome is damaged: " + problem->message,
                 "name another file with --records PATH"};
  }
  return outcome;
}

std::optional<double> competing_time_us(const outcome::Outcome& outcome) {
  const auto* timing = std::get_if<outcome::Timing>(&outcome);
  if (timing == nullptr || !std::isfinite(timing->best_us) || timing->best_us <= 0) return {};
  return timing->best_us;
}

}  // namespace attune::records

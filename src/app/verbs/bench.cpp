#include "app/verbs/bench.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/answer_reader.h"
#include "base/clock.h"
#include "base/isolated.h"
#include "compiler/model/bound.h"
#include "compiler/model/load/caged_model.h"
#include "targets/kinds.h"
#include "tuner/tunings/tunings.h"

namespace attune::verbs {
namespace {

using runtime::Tensor;

// What the child finds out.
struct Found {
  Samples samples = {};
  std::int64_t session_bytes = 0;
  std::vector<LayerRow> layers = {};
  std::vector<double> calls_us = {};  // with copies, where samples are without
};

Bytes pack(const Found& found) {
  Bytes bytes;
  append_value(bytes, found.samples.calls);
  append_value(bytes, found.session_bytes);
  append_value(bytes, found.layers.size());
  for (const LayerRow& row : found.layers) {
    append_text(bytes, row.name);
    append_text(bytes, row.kernel);
    append_value(bytes, row.milliseconds);
    append_value(bytes, row.fastest_ms);
    append_value(bytes, row.percent);
    append_value(bytes, row.gflops);
    append_value(bytes, row.calls);
  }
  append_value(bytes, found.calls_us.size());
  for (const double us : found.calls_us) append_value(bytes, us);
  for (const double us : found.samples.call_us) append_value(bytes, us);
  return bytes;
}

Result<Found> unpack(std::span<const char> bytes) {
  AnswerReader reader(bytes);
  Found found;
  found.samples.calls = reader.value<std::int64_t>();
  found.session_bytes = reader.value<std::int64_t>();
  found.layers.resize(reader.count(5 * sizeof(double)));
  for (LayerRow& row : found.layers) {
    row.name = reader.text();
    row.kernel = reader.text();
    row.milliseconds = reader.value<double>();
    row.fastest_ms = reader.value<double>();
    row.percent = reader.value<double>();
    row.gflops = reader.value<double>();
    row.calls = reader.value<std::int64_t>();
  }
  found.calls_us.resize(reader.count(sizeof(double)));
  for (double& us : found.calls_us) us = reader.value<double>();
  while (!reader.rest().empty()) found.samples.call_us.push_back(reader.value<double>());
  ATTUNE_RETURN_IF_ERROR(reader.status());
  if (!found.samples.call_us.empty()) return found;
  return Error{ErrorCode::Io, "a child process has timed nothing", ""};
}

Result<std::vector<LayerRow>> profile_layers(model::ModelSession& session,
                                             const std::vector<Tensor>& inputs,
                                             const SamplingOptions& sampling) {
  constexpr std::int64_t kFewestRuns = 3;
  const SteadyClock clock;
  runtime::Profile profile;
  const std::int64_t start = clock.now_ns();
  std::int64_t runs = 0;
  while (runs < kFewestRuns ||
         (sampling.repeats > 0 ? runs < sampling.repeats
                               : seconds_between(start, clock.now_ns()) < sampling.seconds)) {
    ATTUNE_RETURN_IF_ERROR(session.run(inputs, &profile));
    ++runs;
  }
  return layer_rows(profile, runs);
}

Status take_samples(const model::RunnableModel& model, model::ModelSession& session,
                    const std::vector<Tensor>& inputs, const SamplingOptions& sampling,
                    Found& found) {
  ATTUNE_RETURN_IF_ERROR(session.run(inputs));
  const auto call = [&] { return session.run(inputs); };
  if (model.facts.times_kernels) {
    ATTUNE_ASSIGN(found.samples, sample([&] { return session.run_again(); }, session, sampling));
    return {};
  }
  if (!session.is_one_recording()) {
    ATTUNE_ASSIGN(found.samples, sample(call, session, sampling));
    return {};
  }
  ATTUNE_ASSIGN(found.samples, sample_times([&] { return session.time_us(inputs); }, sampling));
  constexpr double kShare = 0.25;  // of the time, for calls beside
  const SteadyClock wall;
  ATTUNE_ASSIGN(Samples calls, sample(call, wall, {sampling.repeats, kShare * sampling.seconds}));
  found.calls_us = std::move(calls.call_us);
  return {};
}

nlohmann::ordered_json json_of(const LayerRow& row) {
  nlohmann::ordered_json json{{"name", row.name},       {"kernel", row.kernel},
                              {"ms", row.milliseconds}, {"fastest_ms", row.fastest_ms},
                              {"percent", row.percent}, {"gflops", row.gflops},
                              {"calls", row.calls}};
  if (row.bound_us > 0) json["bound_us"] = row.bound_us;
  if (const auto percent = row.percent_of_bound()) json["percent_of_bound"] = *percent;
  return json;
}

nlohmann::ordered_json json_of(const Latency& latency) {
  return {{"min", latency.min_ms},
          {"median", latency.median_ms},
          {"p90", latency.p90_ms},
          {"p99", latency.p99_ms}};
}

// An artifact does not know its tasks; then the plan says what there is to do.
Status add_bounds(const model::RunnableModel& model, std::vector<LayerRow>& rows) {
  const runtime::Plan& plan = model.plan();
  std::vector<double> bounds_us = model.bounds_us;
  if (bounds_us.empty()) {
    ATTUNE_ASSIGN(const target::Target target,
                  model::resolve_target({.target = plan.target, .threads = model.threads}));
    const auto weights = static_cast<std::int64_t>(model.model->artifact().weights().size());
    const bool cold = model::are_cold(weights, plan.kernels.size(), target);
    bounds_us = model::bounds_us(plan, target, cold);
  }
  std::map<std::string_view, double> by_symbol;
  for (std::size_t i = 0; i < bounds_us.size(); ++i) {
    by_symbol[plan.kernels[i].symbol] = bounds_us[i];
  }
  for (LayerRow& row : rows) {
    if (const auto found = by_symbol.find(row.kernel); found != by_symbol.end()) {
      row.bound_us = found->second;
    }
  }
  return {};
}

}  // namespace

std::string_view name_of(Timed timed) {
  switch (timed) {
    case Timed::Kernel:
      return "kernel";
    case Timed::Device:
      return "device";
    case Timed::Call:
      break;
  }
  return "call";
}

std::vector<LayerRow> layer_rows(const runtime::Profile& profile, std::int64_t runs) {
  std::vector<LayerRow> rows;
  double total_ms = 0;
  for (const runtime::LayerTime& layer : profile.layers()) {
    LayerRow row{std::string(layer.layer), std::string(layer.what)};
    row.milliseconds = static_cast<double>(layer.total_ns) * 1e-6 / static_cast<double>(runs);
    row.calls = layer.calls / runs;
    row.fastest_ms = static_cast<double>(layer.fastest_ns) * 1e-6;
    if (layer.total_ns > 0) {
      row.gflops =
          layer.flops * static_cast<double>(layer.calls) / static_cast<double>(layer.total_ns);
    }
    total_ms += row.milliseconds;
    rows.push_back(std::move(row));
  }
  for (LayerRow& row : rows) row.percent = total_ms > 0 ? 100 * row.milliseconds / total_ms : 0;
  std::stable_sort(rows.begin(), rows.end(), [](const LayerRow& a, const LayerRow& b) {
    return a.milliseconds > b.milliseconds;
  });
  return rows;
}

Result<BenchReport> bench(const BenchOptions& options) {
  model::SourceOptions source = options.source;
  source.model.seed = options.seed;
  ATTUNE_ASSIGN(const model::ModelWithInputs opened,
                model::load_with_inputs(source, options.files, options.seed));
  const model::RunnableModel& model = opened.model;
  const runtime::Plan& plan = model.plan();
  BenchReport report{.model = model.name,
                     .target = plan.target,
                     .threads = model.threads,
                     .precision = plan.precision,
                     .schedule_text = model.schedule_text,
                     .fallbacks = model.fallbacks};
  if (model.facts.one_task) report.kernel = model.kernels.front();
  if (model.facts.times_kernels && options.measure_peak) {
    ATTUNE_ASSIGN(target::Target target, targets::parse(plan.target));
    target.threads = report.threads;
    ATTUNE_ASSIGN(report.peak_gflops, tunings::tuning_of(target).peak_gflops(target));
  }
  const auto work = [&]() -> Result<Bytes> {
    const std::vector<Tensor>& inputs = opened.inputs;
    ATTUNE_ASSIGN(model::ModelSession session, model::ModelSession::create(model, true));
    ATTUNE_RETURN_IF_ERROR(model::enter_cage(model));
    Found found;
    ATTUNE_RETURN_IF_ERROR(take_samples(model, session, inputs, options.sampling, found));
    found.session_bytes = static_cast<std::int64_t>(session.bytes());
    if (options.layers) {
      ATTUNE_ASSIGN(found.layers, profile_layers(session, inputs, options.sampling));
    }
    return pack(found);
  };
  ATTUNE_ASSIGN(const Bytes answer,
                run_isolated(model.name, work, model::limits_for(model, options.timeout_seconds)));
  ATTUNE_ASSIGN(Found found, unpack(answer));
  report.calls = found.samples.calls;
  report.latency = summarize(std::move(found.samples.call_us));
  if (model.facts.times_kernels) report.timed = Timed::Kernel;
  if (!found.calls_us.empty()) {
    report.timed = Timed::Device;
    report.call_latency = summarize(std::move(found.calls_us));
  }
  report.gflops = model::flops_of(plan) / (report.latency.min_ms * 1e6);
  report.load_ms = model.load_ms;
  report.compile_seconds = model.compile_seconds;
  report.weight_bytes = static_cast<std::int64_t>(model.model->artifact().weights().size());
  report.arena_bytes = plan.arena_bytes;
  report.session_bytes = found.session_bytes;
  report.layers = std::move(found.layers);
  if (options.layers) ATTUNE_RETURN_IF_ERROR(add_bounds(model, report.layers));
  return report;
}

std::string to_json(const BenchReport& report) {
  nlohmann::ordered_json json;
  json["model"] = report.model;
  if (report.kernel) json["key"] = report.kernel->key;
  json["latency_ms"] = json_of(report.latency);
  json["timed"] = name_of(report.timed);
  if (report.call_latency) json["call_latency_ms"] = json_of(*report.call_latency);
  json["gflops"] = report.gflops;
  if (report.peak_gflops > 0) {
    json["peak_gflops"] = report.peak_gflops;
    json["percent_of_peak"] = report.percent_of_peak();
  }
  json["threads"] = report.threads;
  json["target"] = report.target;
  json["precision"] = report.precision;
  if (report.kernel) {
    json["schedule"] = model::source_name(report.kernel->schedule.origin);
    json["trace"] = schedule::to_string(report.kernel->schedule.trace);
  } else {
    json["schedule"] = report.schedule_text;
  }
  json["fallbacks"] = model::fallbacks_json(report.fallbacks);
  json["calls"] = report.calls;
  json["load_ms"] = report.load_ms;
  if (report.compile_seconds > 0) json["compile_seconds"] = report.compile_seconds;
  json["weight_bytes"] = report.weight_bytes;
  json["arena_bytes"] = report.arena_bytes;
  json["session_bytes"] = report.session_bytes;
  for (const LayerRow& row : report.layers) json["layers"].push_back(json_of(row));
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace attune::verbs

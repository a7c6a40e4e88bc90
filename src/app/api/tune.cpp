#include "app/api/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/api/bench.h"
#include "app/api/known_schedule.h"
#include "app/api/other_tasks.h"
#include "app/api/tune_tasks.h"
#include "app/api/workshop.h"
#include "base/clock.h"
#include "tuner/records/store.h"
#include "tuner/session/run_local.h"
#include "tuner/session/session.h"

namespace attune::api {
namespace {

class Forwarder final : public session::Observer {
 public:
  Forwarder(const std::function<void(const TuneProgress&)>& progressed, double peak_gflops,
            bool limited_by_time)
      : progressed_(progressed), peak_gflops_(peak_gflops), limited_by_time_(limited_by_time) {}

  void progressed(const session::Progress& p) override {
    if (!progressed_) return;
    progressed_({.task = p.task,
                 .stage = p.stage,
                 .trials = p.trials,
                 .trials_total = p.trials_total,
                 .best_us = p.best_us,
                 .best_gflops = p.best_gflops,
                 .percent_of_peak = peak_gflops_ > 0 ? 100 * p.best_gflops / peak_gflops_ : 0,
                 .failures = p.failures,
                 .elapsed_seconds = p.elapsed_seconds,
                 .eta_seconds = p.eta_seconds,
                 .limited_by_time = limited_by_time_});
  }

 private:
  const std::function<void(const TuneProgress&)>& progressed_;
  double peak_gflops_;
  bool limited_by_time_;
};

std::string algorithm_named_by(const std::string& text) {
  const Result<schedule::Trace> trace = schedule::parse_trace(text);
  if (!trace.ok() || trace->empty()) return "direct";
  const auto* step = std::get_if<schedule::Algorithm>(&trace->front());
  return step == nullptr ? "direct" : step->name;
}

// Runs the session and reports its task; what surrounds it is the caller's.
Result<session::TaskReport> run_session(const OperatorModel& model, const TuneOptions& options,
                                        Workshop& workshop, records::Store& store,
                                        std::shared_ptr<const model::History> history,
                                        session::Observer& observer, const std::atomic<bool>& stop,
                                        session::Usage& usage) {
  ATTUNE_ASSIGN(const std::unique_ptr<session::Session> session,
                open_session({store, workshop.builder(), workshop.runner(), workshop.clock()},
                             tunable_task(model, options, workshop.overlap()), model.target,
                             options.search, std::move(history)));
  ATTUNE_RETURN_IF_ERROR(workshop.aside([&] {
    return session::run_granted(*session, workshop.grants(), workshop.clock(), &observer, &stop,
                                workshop.enough(), &usage);
  }));
  return session->report();
}

}  // namespace

TunedTask tuned_task(const session::TaskReport& report, double peak_gflops) {
  return {.key = report.key,
          .name = report.name,
          .trials = report.trials,
          .failed = report.failed,
          .failures = report.failures,
          .timed = report.timed,
          .best_us = report.best_us,
          .default_us = report.default_us,
          .gflops = report.gflops,
          .percent_of_peak = peak_gflops > 0 ? 100 * report.gflops / peak_gflops : 0,
          .seconds = report.seconds,
          .exhausted = report.exhausted,
          .resumed = report.resumed,
          .best_is_default = report.best_is_default,
          .default_failure = report.default_failure,
          .trace = report.best_trace,
          .algorithm = algorithm_named_by(report.best_trace)};
}

void add_usage(const session::Usage& usage, double device_seconds, TuneReport& report) {
  if (report.seconds <= 0) return;
  report.device_busy = device_seconds / report.seconds;
  report.search_share = usage.search_seconds() / report.seconds;
  for (std::size_t i = 0; i < session::kStageKinds; ++i) {
    const auto kind = static_cast<session::StageKind>(i);
    report.stage_seconds[std::string(session::name_of(kind))] = usage.seconds_of[i];
  }
}

Result<TuneReport> tune(const TuneOptions& options,
                        const std::function<void(const TuneProgress&)>& progressed,
                        const std::atomic<bool>& stop) {
  LocalWorkshop workshop;
  return tune(options, progressed, stop, workshop);
}

Result<TuneReport> tune(const TuneOptions& options,
                        const std::function<void(const TuneProgress&)>& progressed,
                        const std::atomic<bool>& stop, Workshop& workshop) {
  const Clock& clock = workshop.clock();
  const std::int64_t start = clock.now_ns();
  ATTUNE_RETURN_IF_ERROR(explore::check(options.search));
  ATTUNE_ASSIGN(const OperatorModel model, load_model(options.model));
  ATTUNE_RETURN_IF_ERROR(check_runs_here(model));
  ATTUNE_RETURN_IF_ERROR(check_fits_memory(model, Purpose::Tune));
  ATTUNE_ASSIGN(const std::optional<std::string> history, history_path(options.history));
  ATTUNE_RETURN_IF_ERROR(workshop.open(model.target));
  ATTUNE_ASSIGN(const std::string path, records_path(options.records));
  ATTUNE_ASSIGN(const std::unique_ptr<records::Store> store, records::open_sqlite_store(path));
  if (history) {
    ATTUNE_ASSIGN(const auto other, records::open_sqlite_store_for_reading(*history));
    ATTUNE_RETURN_IF_ERROR(
        bring_best(*other, {.task_key = model.task.key, .target = model.target_text()}, *store));
  }
  ATTUNE_ASSIGN(const deploy::Bundle bundle, bundle_for(options.history));
  ATTUNE_RETURN_IF_ERROR(
      hint_shipped(bundle, scheduled_task(model), model.task.spec, model.target, *store));
  session::LoadedHistory others;
  ATTUNE_RETURN_IF_ERROR(workshop.errand("history", session::Resource::HostCores, [&]() -> Status {
    ATTUNE_ASSIGN(others,
                  learn_from_others(*store, options.history, model.target, {model.task.key}));
    return {};
  }));
  TuneReport report{.target = model.target_text(), .threads = model.target.threads};
  report.history = session::describe(others);
  ATTUNE_ASSIGN(report.peak_gflops, peak_gflops(workshop, report.threads));
  Forwarder forwarder(progressed, report.peak_gflops, !options.trials && options.seconds);
  session::Usage usage;
  Result<session::TaskReport> outcome = run_session(
      model, options, workshop, *store, std::move(others.history), forwarder, stop, usage);
  if (!outcome.ok()) return std::move(outcome).error();

  const session::TuneReport whole =
      session::summarize({*outcome}, {}, seconds_between(start, clock.now_ns()), options.seed);
  report.tasks.push_back(tuned_task(*outcome, report.peak_gflops));
  report.trials_per_second = whole.trials_per_second;
  report.latency_ms = whole.latency_ms;
  report.default_latency_ms = whole.default_latency_ms;
  report.seconds = whole.seconds;
  add_usage(usage, workshop.runner().busy_seconds(), report);
  report.seed = whole.seed;
  report.records = path;
  report.stopped = stop.load();
  report.until_latency_ms = options.until_latency_ms;
  return report;
}

std::string to_json(const TuneReport& report) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  Json json;
  json["tasks"] = Json::array();
  for (const TunedTask& task : report.tasks) {
    Json failures = Json::object();
    for (const auto& [kind, count] : task.failures) failures[kind] = count;
    json["tasks"].push_back({{"key", task.key},
                             {"name", task.name},
                             {"trials", task.trials},
                             {"failed", task.failed},
                             {"failures", failures},
                             {"best_us", or_null(task.best_us)},
                             {"default_us", or_null(task.default_us)},
                             {"gflops", task.gflops},
                             {"percent_of_peak", task.percent_of_peak},
                             {"seconds", task.seconds},
                             {"exhausted", task.exhausted},
                             {"resumed", task.resumed},
                             {"uses", task.uses},
                             {"algorithm", task.algorithm},
                             {"trace", task.trace}});
  }
  json["trials_per_second"] = report.trials_per_second;
  json["device_busy"] = report.device_busy;
  json["search_share"] = report.search_share;
  json["stage_seconds"] = report.stage_seconds;
  json["latency_ms"] = or_null(report.latency_ms);
  json["default_latency_ms"] = or_null(report.default_latency_ms);
  json["seconds"] = report.seconds;
  json["seed"] = report.seed;
  json["peak_gflops"] = report.peak_gflops;
  json["threads"] = report.threads;
  json["target"] = report.target;
  json["records"] = report.records;
  if (!report.output.empty()) {
    json["output"] = report.output;
    json["fallbacks"] = fallbacks_json(report.fallbacks);
  }
  json["stopped"] = report.stopped;
  if (report.until_latency_ms) {
    json["until_latency_ms"] = *report.until_latency_ms;
    json["reached"] = report.reached();
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace attune::api

#include "app/api/tune.h"

#include "app/api/bench.h"
#include "app/api/known_schedule.h"
#include "app/api/other_tasks.h"
#include "app/api/tune_log.h"
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
  Forwarder(const TuneOptions& options, const Progressed& progressed, const Clock& clock,
            std::int64_t start_ns, double peak_gflops)
      : options_(options),
        progressed_(progressed),
        clock_(clock),
        start_ns_(start_ns),
        peak_gflops_(peak_gflops) {}

  void progressed(const session::Progress& p) override {
    if (!progressed_) return;
    const bool limited_by_time = !options_.trials && options_.seconds;
    const bool ended = p.stage == session::name_of(session::StageKind::Confirm);
    TuneProgress progress{.stage = p.stage,
                          .round = p.round,
                          .stage_seconds = p.stage_seconds,
                          .trials = p.trials,
                          .latency_ms = p.best_us.value_or(0) * 1e-3,
                          .failures = p.failures,
                          .elapsed_seconds = seconds_between(start_ns_, clock_.now_ns()),
                          .left_seconds = p.eta_seconds,
                          .closing = p.round == session::kClosing};
    if (!limited_by_time) progress.trials_total = p.trials_total;
    progress.failed = failed_candidates(p.failed, p.key, p.task);
    progress.tasks.push_back(
        {.key = p.key,
         .name = p.task,
         .share = 1,
         .trials = p.trials,
         .best_us = p.best_us,
         .default_us = p.default_us,
         .best_gflops = p.best_gflops,
         .percent_of_peak = peak_gflops_ > 0 ? 100 * p.best_gflops / peak_gflops_ : 0,
         .model_quality = p.model_quality,
         .settled = ended,
         .left_seconds = p.eta_seconds});
    progressed_(progress);
  }

 private:
  const TuneOptions& options_;
  const Progressed& progressed_;
  const Clock& clock_;
  std::int64_t start_ns_;
  double peak_gflops_;
};

// Runs the session and reports its task; what surrounds it is the caller's.
Result<session::TaskReport> run_session(const OperatorModel& model, const TuneOptions& options,
                                        Workshop& workshop, records::Store& store,
                                        std::shared_ptr<const model::History> history,
                                        session::Observer& observer, const std::atomic<bool>& stop,
                                        session::Usage& usage) {
  ATTUNE_ASSIGN(const std::unique_ptr<session::Session> session,
                open_session({store, workshop.builder(), workshop.runner(), workshop.clock()},
                             tunable_task(model, options, workshop.task_window()), model.target,
                             options.search, std::move(history)));
  workshop.expect_tasks(1);
  ATTUNE_RETURN_IF_ERROR(workshop.aside([&] {
    return session::run_granted(*session, workshop.grants(), workshop.clock(), &observer, &stop,
                                workshop.enough(), &usage);
  }));
  return session->report();
}

Result<TuneReport> tune_operator(const TuneOptions& options, const Progressed& progressed,
                                 const std::atomic<bool>& stop, Workshop& workshop) {
  const Clock& clock = workshop.clock();
  const std::int64_t start = clock.now_ns();
  ATTUNE_RETURN_IF_ERROR(explore::check(options.search));
  ATTUNE_ASSIGN(const OperatorModel model, load_model(options.model));
  ATTUNE_RETURN_IF_ERROR(check_runs_on(model.target, workshop.cores()));
  ATTUNE_RETURN_IF_ERROR(check_fits_memory(model, Purpose::Tune));
  ATTUNE_RETURN_IF_ERROR(open_history(options.history));  // before anything is begun
  ATTUNE_RETURN_IF_ERROR(workshop.open(model.target));
  ATTUNE_ASSIGN(const std::string path, records_path(options.records));
  ATTUNE_ASSIGN(const std::unique_ptr<records::Store> store, records::open_sqlite_store(path));
  ATTUNE_ASSIGN(const auto other, open_history(options.history));
  if (other) {
    ATTUNE_RETURN_IF_ERROR(
        bring_best(*other, {.task_key = model.task.key, .target = model.target_text()}, *store));
    ATTUNE_RETURN_IF_ERROR(bring_hints(*other, model.task.key, {}, *store));
  }
  ATTUNE_ASSIGN(const deploy::Bundle bundle, bundle_for(options.history));
  ATTUNE_RETURN_IF_ERROR(
      hint_shipped(bundle, scheduled_task(model), model.task.spec, model.target, *store));
  session::LoadedHistory others;
  ATTUNE_RETURN_IF_ERROR(workshop.errand("history", session::Resource::HostCores, [&]() -> Status {
    ATTUNE_ASSIGN(others, learn_from_others(*store, options.history, model.target, model.task.key));
    return {};
  }));
  TuneReport report{.target = model.target_text(), .threads = model.target.threads};
  report.history = learnt_history(others);
  ATTUNE_ASSIGN(report.peak_gflops, peak_gflops(workshop, report.threads));
  Forwarder forwarder(options, progressed, clock, start, report.peak_gflops);
  session::Usage usage;
  Result<session::TaskReport> outcome = run_session(
      model, options, workshop, *store, std::move(others.history), forwarder, stop, usage);
  if (!outcome.ok()) return std::move(outcome).error();

  const session::TuneReport whole =
      session::summarize({*outcome}, {}, seconds_between(start, clock.now_ns()));
  add_task(*outcome, 1, report);
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

}  // namespace

Result<TuneReport> tune(const TuneOptions& options, const Progressed& progressed,
                        const std::atomic<bool>& stop) {
  LocalWorkshop workshop;
  return tune(options, progressed, stop, workshop);
}

Result<TuneReport> tune(const TuneOptions& options, const Progressed& progressed,
                        const std::atomic<bool>& stop, Workshop& workshop) {
  return with_log(options.model, options, progressed, [&](const Progressed& both) {
    return tune_operator(options, both, stop, workshop);
  });
}

}  // namespace attune::api

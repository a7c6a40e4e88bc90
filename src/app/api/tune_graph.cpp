#include "app/api/tune_graph.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "app/api/alternatives.h"
#include "app/api/bench.h"
#include "app/api/kernel_times.h"
#include "app/api/layout_trials.h"
#include "app/api/model_teller.h"
#include "app/api/model_variants.h"
#include "app/api/other_tasks.h"
#include "app/api/race.h"
#include "app/api/tune_log.h"
#include "app/api/tune_tasks.h"
#include "app/api/workshop.h"
#include "base/clock.h"
#include "tuner/logs/adapt.h"
#include "tuner/records/store.h"
#include "tuner/session/run_model.h"

namespace attune::api {
namespace {

constexpr double kDefaultSeconds = 300;
// What comparing the best of one task takes.
constexpr double kClosingSeconds = 0.15;

// What choosing between schedules inside the model may take: of the time in which its tasks were
// measured, and of the whole budget.
constexpr double kInsideShare = 0.2, kInsideReserve = 0.1;
constexpr double kVariantSeconds = 0.6;  // of timing one of its artifacts
constexpr std::size_t kMostVariants = 12;

class GraphTuner {
 public:
  GraphTuner(const TuneGraphOptions& options, const Progressed& progressed,
             const std::atomic<bool>& stop, Workshop& workshop)
      : options_(options),
        stop_(stop),
        workshop_(workshop),
        clock_(workshop.clock()),
        start_ns_(clock_.now_ns()),
        teller_(options.tune, kDefaultSeconds, progressed, clock_) {}

  Result<TuneReport> run() {
    ATTUNE_RETURN_IF_ERROR(on_host("load", [&] { return load(); }));
    ATTUNE_RETURN_IF_ERROR(check_threads(workshop_.cores()));
    ATTUNE_RETURN_IF_ERROR(workshop_.open(model_.target));
    report_.threads = model_.target.threads;
    report_.target = ir::to_string(model_.target);
    ATTUNE_ASSIGN(report_.peak_gflops, peak_gflops(workshop_, report_.threads));
    const bool cold = has_cold_weights(model_.graph, model_.target);
    deploy::ModelTasks tasks;
    const TemporaryFile before(fmt::format("{}.{}.untuned", options_.output, getpid()));
    ATTUNE_RETURN_IF_ERROR(on_host("prepare", [&]() -> Status {
      ATTUNE_ASSIGN(graph::Graph prepared,
                    teller_.whole_stage("layouts", [&] { return prepare(cold); }));
      ATTUNE_ASSIGN(tasks, deploy::collect_tasks(std::move(prepared)));
      // What tasks gain is gained by the whole: for a goal that needs to be known.
      return options_.tune.until_latency_ms ? time_untuned(tasks, before.path()) : Status();
    }));
    ATTUNE_RETURN_IF_ERROR(workshop_.aside([&] { return tune_tasks(tasks, cold, before.path()); }));
    device_seconds_ += workshop_.runner().busy_seconds();
    return finish(tasks, cold, before.path());
  }

 private:
  Status on_host(std::string_view kind, const std::function<Status()>& work) {
    return workshop_.errand(kind, session::Resource::HostCores, work);
  }

  Status load() {
    ATTUNE_ASSIGN(model_, load_graph(options_.graph));
    ATTUNE_RETURN_IF_ERROR(open_history(options_.tune.history));  // before anything is begun
    return {};
  }

  Status check_threads(int cores) const {
    if (model_.target.threads <= cores) return {};
    return invalid(fmt::format("{} threads are asked for, but this process may use {} cores",
                               model_.target.threads, cores),
                   fmt::format("choose --threads {} or fewer", cores));
  }

  // With layouts by what was measured, here or before.
  Result<graph::Graph> prepare(bool cold) {
    ATTUNE_ASSIGN(const std::string path, records_path(options_.tune.records));
    ATTUNE_ASSIGN(const auto store, records::open_sqlite_store(path));
    LayoutTrials trials({.target = model_.target,
                         .exact = options_.graph.model.exact,
                         .cold = cold,
                         .use_records = options_.tune.resume || options_.tune.history != "none"},
                        *store, workshop_);
    deploy::CompileOptions compile = compile_options();
    compile.before_layouts = [&](const std::vector<graph::Task>& tasks) {
      return trials.time(tasks);
    };
    compile.choose = [&](const graph::Task& task) { return trials.schedule_of(task); };
    return deploy::prepare_graph(std::move(model_.graph), compile);
  }

  deploy::CompileOptions compile_options() const {
    return api::compile_options(model_, options_.graph);
  }

  // Says how long compiling takes.
  Status write_untuned(const deploy::ModelTasks& tasks, const std::string& path) {
    return teller_.whole_stage("compile", [&]() -> Status {
      const std::int64_t start = clock_.now_ns();
      ATTUNE_ASSIGN(deploy::CompiledModel untuned, deploy::compile_tasks(tasks, compile_options()));
      ATTUNE_RETURN_IF_ERROR(deploy::write(untuned, path));
      untuned_fallbacks_ = std::move(untuned.fallbacks);
      compile_seconds_ = seconds_between(start, clock_.now_ns());
      finish_seconds_ = compile_seconds_ + RaceOptions{}.seconds + reserve_inside();
      untuned_written_ = true;
      return {};
    });
  }

  Status time_untuned(const deploy::ModelTasks& tasks, const std::string& path) {
    ATTUNE_RETURN_IF_ERROR(write_untuned(tasks, path));
    return workshop_.errand("race", session::Resource::Device, [&]() -> Status {
      const std::int64_t start = clock_.now_ns();
      ATTUNE_ASSIGN(const std::vector<double> latency_ms, race({path}, {.seconds = 1}));
      untuned_us_ = latency_ms.front() * 1e3;
      device_seconds_ += seconds_between(start, clock_.now_ns());
      return {};
    });
  }

  Status tune_tasks(const deploy::ModelTasks& tasks, bool cold, const std::string& untuned) {
    auto path = records_path(options_.tune.records);
    if (!path.ok()) return path.error();
    report_.records = *path;
    auto store = records::open_sqlite_store(*path);
    if (!store.ok()) return store.error();
    std::vector<std::unique_ptr<session::Session>> sessions;
    std::vector<session::WeightedSession> weighted;
    ATTUNE_RETURN_IF_ERROR(on_host(
        "history", [&] { return open_sessions(tasks, cold, **store, sessions, weighted); }));
    workshop_.expect_tasks(sessions.size());
    // While the first rounds are measured.
    std::vector<session::Errand> beside;
    if (!untuned_written_) {
      beside.push_back(
          {.work = {.kind = "compile"}, .perform = [&] { return write_untuned(tasks, untuned); }});
    }
    ATTUNE_RETURN_IF_ERROR(session::run_model(
        weighted, budget(), workshop_.grants(), clock_,
        [this](const session::ModelProgress& progress) { teller_.forward(progress); }, stop_,
        &usage_, std::move(beside)));
    if (!untuned_written_) {  // stopped before its turn came
      ATTUNE_RETURN_IF_ERROR(on_host("compile", [&] { return write_untuned(tasks, untuned); }));
    }
    for (const auto& session : sessions) reports_.push_back(session->report());
    return {};
  }

  Status open_sessions(const deploy::ModelTasks& tasks, bool cold, records::Store& store,
                       std::vector<std::unique_ptr<session::Session>>& sessions,
                       std::vector<session::WeightedSession>& weighted) {
    ATTUNE_RETURN_IF_ERROR(bring_known(tasks, cold, store));
    ATTUNE_ASSIGN(const session::LoadedHistory others,
                  learn_from_others(store, options_.tune.history, model_.target, {}));
    report_.history = session::describe(others);
    const session::Context context{store, workshop_.builder(), workshop_.runner(), clock_};
    for (const TunableTask& task :
         tunable_tasks(tasks, model_, options_.tune, options_.graph.model.exact, cold)) {
      ATTUNE_ASSIGN(auto opened, open_session(context, task, model_.target, options_.tune.search,
                                              others.history));
      sessions.push_back(std::move(opened));
      weighted.push_back({sessions.back().get(), task.weight});
    }
    return {};
  }

  // What the history that the user named and the bundle know about the tasks.
  Status bring_known(const deploy::ModelTasks& tasks, bool cold, records::Store& store) const {
    ATTUNE_ASSIGN(const auto named, open_history(options_.tune.history));
    ATTUNE_ASSIGN(const deploy::Bundle bundle, bundle_for(options_.tune.history));
    for (const graph::Task& task : tasks.distinct) {
      const records::BestQuery query{.task_key = task.key,
                                     .target = ir::to_string(model_.target),
                                     .weights = weights_of(task, cold)};
      if (named) {
        ATTUNE_RETURN_IF_ERROR(bring_best(*named, query, store));
        ATTUNE_RETURN_IF_ERROR(
            bring_hints(*named, task.key, logs::anchor_key(task.op.program), store));
      }
      const auto described = scheduled_task(task, model_.target, options_.graph.model.exact, cold);
      ATTUNE_RETURN_IF_ERROR(hint_shipped(bundle, described, task.name, model_.target, store));
    }
    return {};
  }

  session::ModelBudget budget() const {
    session::ModelBudget result;
    const double spent = seconds_between(start_ns_, clock_.now_ns());
    // The tuned model is compiled and raced within the budget, unless nothing were left of it.
    const double all = options_.tune.seconds.value_or(kDefaultSeconds);
    result.seconds = endless() ? 1e9 : std::max(all - spent, 0.25 * all);
    result.reserved_seconds = &finish_seconds_;
    result.closing_seconds = kClosingSeconds;
    result.window = workshop_.window();
    result.batch = workshop_.batch();
    result.enough = workshop_.enough();
    if (options_.tune.until_latency_ms) {
      result.goal = session::Goal{.before_us = untuned_us_,
                                  .until_us = *options_.tune.until_latency_ms * 1e3};
    }
    return result;
  }

  // Without a limit of time.
  bool endless() const { return options_.tune.trials && !options_.tune.seconds; }

  // What is kept of the budget for choosing inside the model; nothing where that is not enough.
  double reserve_inside() const {
    if (endless()) return 0;
    const double kept = kInsideReserve * options_.tune.seconds.value_or(kDefaultSeconds);
    const double each = compile_seconds_ + kVariantSeconds;
    return kept < 2 * each ? 0 : std::min(kept, static_cast<double>(kMostVariants) * each);
  }

  // The schedules that are tried inside the model, of every task: the best by itself first.
  Status add_schedules(const deploy::ModelTasks& tasks, bool cold, ModelVariants& variants) const {
    ATTUNE_ASSIGN(const auto store, records::open_sqlite_store_for_reading(report_.records));
    std::map<std::string, session::TaskReport> reports;
    for (const session::TaskReport& report : reports_) reports[report.key] = report;
    for (const graph::Task& task : tasks.distinct) {
      ATTUNE_ASSIGN(auto schedules, schedules_of(task, cold, reports[task.key], *store));
      variants.add_task(std::move(schedules));
    }
    return {};
  }

  Result<std::vector<deploy::Schedule>> schedules_of(const graph::Task& task, bool cold,
                                                     const session::TaskReport& report,
                                                     records::Store& store) const {
    const bool exact = options_.graph.model.exact;
    deploy::Schedule best = deploy::default_schedule(task, model_.target, exact);
    if (!report.best_trace.empty() && !report.best_is_default) {
      auto trace = schedule::parse_trace(report.best_trace);
      if (trace.ok()) best = deploy::recorded_schedule(std::move(*trace));
    }
    const bool use_records = options_.tune.resume || options_.tune.history != "none";
    return schedules_to_try(task, best,
                            {.query = {.task_key = task.key,
                                       .target = ir::to_string(model_.target),
                                       .weights = weights_of(task, cold)},
                             .session = use_records ? 0 : report.session,
                             .exact = exact,
                             .most = kMostVariants},
                            store);
  }

  // How many artifacts of the model there is time for.
  std::size_t affordable_variants() const {
    double seconds = kInsideShare * device_seconds_;
    if (!endless()) {
      const double spent = seconds_between(start_ns_, clock_.now_ns());
      const double all = options_.tune.seconds.value_or(kDefaultSeconds);
      seconds = std::min(seconds, all - spent - compile_seconds_ - RaceOptions{}.seconds);
    }
    return static_cast<std::size_t>(std::max(0.0, seconds / (compile_seconds_ + kVariantSeconds)));
  }

  // Times schedules of all tasks inside the model. When that says that others than the first are
  // better there, the model that has them becomes the last artifact.
  void choose_inside(ModelVariants& variants) {
    const std::size_t count = std::min(affordable_variants(), variants.most_artifacts());
    if (count < 2 || stop_.load()) return;
    std::vector<std::size_t> fastest;
    Status timed = compile_stage([&] { return variants.write_others(count); });
    if (timed.ok()) {
      timed = race_stage([&]() -> Status {
        ATTUNE_ASSIGN(const auto times,
                      time_kernels(variants.paths(), {.seconds = kVariantSeconds}));
        fastest = fastest_artifacts(times);
        return {};
      });
    }
    variants.forget_others();
    note_inside(timed);
    const auto others = std::count_if(fastest.begin(), fastest.end(), [](auto i) { return i > 0; });
    if (others == 0) return;
    changed_inside_ = others;
    note_inside(compile_stage([&] { return variants.write_mixed(fastest); }));
  }

  // A full disk, say, does not cost what was tuned: the first artifact is what there is.
  void note_inside(const Status& status) {
    if (!status.ok()) report_.inside_failure = status.error().message;
  }

  Status compile_stage(const std::function<Status()>& work) {
    return on_host("compile", [&] { return teller_.whole_stage("compile", work); });
  }

  Status race_stage(const std::function<Status()>& work) {
    return workshop_.errand("race", session::Resource::Device, [&] {
      const std::int64_t start = clock_.now_ns();
      const Status status = teller_.whole_stage("race", work);
      device_seconds_ += seconds_between(start, clock_.now_ns());
      return status;
    });
  }

  // Tuned and untuned artifacts are raced; the fastest becomes the output.
  Result<TuneReport> finish(const deploy::ModelTasks& tasks, bool cold,
                            const std::string& untuned) {
    std::vector<std::int64_t> uses(tasks.uses.begin(), tasks.uses.end());
    ModelVariants variants(tasks, compile_options(), options_.output);
    ATTUNE_RETURN_IF_ERROR(add_schedules(tasks, cold, variants));
    ATTUNE_RETURN_IF_ERROR(compile_stage([&] { return variants.write(0); }));
    choose_inside(variants);
    std::vector<std::string> paths{untuned};
    paths.insert(paths.end(), variants.paths().begin(), variants.paths().end());
    std::vector<double> latencies;
    ATTUNE_RETURN_IF_ERROR(race_stage([&]() -> Status {
      ATTUNE_ASSIGN(latencies, race(paths, RaceOptions{}));
      return {};
    }));
    const auto fastest = static_cast<std::size_t>(
        std::min_element(latencies.begin(), latencies.end()) - latencies.begin());
    report_.default_latency_ms = latencies[0];
    report_.latency_ms = latencies[fastest];
    report_.untuned_is_best = fastest == 0;
    report_.changed_inside = fastest > 1 ? changed_inside_ : 0;
    report_.fallbacks = fastest == 0 ? untuned_fallbacks_ : variants.fallbacks(fastest - 1);
    std::error_code failure;
    std::filesystem::rename(paths[fastest], options_.output, failure);
    if (failure) {
      return Error{ErrorCode::Io,
                   fmt::format("cannot write '{}': {}", options_.output, failure.message()),
                   "name another file with -o"};
    }
    report_.output = options_.output;
    return take_report(uses);
  }

  TuneReport take_report(const std::vector<std::int64_t>& uses) {
    const double seconds = seconds_between(start_ns_, clock_.now_ns());
    const session::TuneReport whole =
        session::summarize(reports_, uses, seconds, options_.tune.seed);
    for (std::size_t i = 0; i < reports_.size(); ++i) add_task(reports_[i], uses[i], report_);
    report_.trials_per_second = whole.trials_per_second;
    report_.seconds = seconds;
    add_usage(usage_, device_seconds_, report_);
    report_.seed = options_.tune.seed;
    report_.stopped = stop_.load();
    report_.until_latency_ms = options_.tune.until_latency_ms;
    return std::move(report_);
  }

  const TuneGraphOptions& options_;
  const std::atomic<bool>& stop_;
  Workshop& workshop_;
  const Clock& clock_;
  std::int64_t start_ns_;
  ModelTeller teller_;
  GraphModel model_;
  TuneReport report_;
  std::vector<session::TaskReport> reports_;
  session::Usage usage_;
  double device_seconds_ = 0;  // of measuring and racing
  Fallbacks untuned_fallbacks_;
  bool untuned_written_ = false;
  std::int64_t changed_inside_ = 0;          // tasks with another schedule than the best by itself
  std::atomic<double> compile_seconds_ = 0;  // of the whole model
  double untuned_us_ = 0;                    // of the whole model; 0: not needed
  // What compiling and racing the tuned model will take: racing, until it was compiled once.
  std::atomic<double> finish_seconds_ = RaceOptions{}.seconds;
};

}  // namespace

Result<TuneReport> tune_graph(const TuneGraphOptions& options, const Progressed& progressed,
                              const std::atomic<bool>& stop) {
  LocalWorkshop workshop;
  return tune_graph(options, progressed, stop, workshop);
}

Result<TuneReport> tune_graph(const TuneGraphOptions& options, const Progressed& progressed,
                              const std::atomic<bool>& stop, Workshop& workshop) {
  ATTUNE_RETURN_IF_ERROR(explore::check(options.tune.search));
  return with_log(options.graph.model, options.tune, progressed, [&](const Progressed& both) {
    return GraphTuner(options, both, stop, workshop).run();
  });
}

}  // namespace attune::api

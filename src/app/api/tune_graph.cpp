#include "app/api/tune_graph.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "app/api/bench.h"
#include "app/api/layout_trials.h"
#include "app/api/model_teller.h"
#include "app/api/other_tasks.h"
#include "app/api/race.h"
#include "app/api/tune_log.h"
#include "app/api/tune_tasks.h"
#include "app/api/workshop.h"
#include "base/clock.h"
#include "runtime/affinity.h"
#include "tuner/logs/adapt.h"
#include "tuner/records/store.h"
#include "tuner/session/run_model.h"

namespace attune::api {
namespace {

constexpr double kDefaultSeconds = 300;
// What comparing the best of one task takes.
constexpr double kClosingSeconds = 0.15;

// A file that goes when its owner does.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

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
    ATTUNE_RETURN_IF_ERROR(check_threads(runtime::allowed_cores()));
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
    return finish(tasks, before.path());
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

  Status check_threads(const std::vector<int>& available) const {
    if (static_cast<std::size_t>(model_.target.threads) <= available.size()) return {};
    return invalid(fmt::format("{} threads are asked for, but this process may use {} cores",
                               model_.target.threads, available.size()),
                   fmt::format("choose --threads {} or fewer", available.size()));
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
    deploy::CompileOptions compile = api::compile_options(model_, options_.graph);
    return compile;
  }

  // Says how long compiling takes.
  Status write_untuned(const deploy::ModelTasks& tasks, const std::string& path) {
    return teller_.whole_stage("compile", [&]() -> Status {
      const std::int64_t start = clock_.now_ns();
      ATTUNE_ASSIGN(deploy::CompiledModel untuned, deploy::compile_tasks(tasks, compile_options()));
      ATTUNE_RETURN_IF_ERROR(deploy::write(untuned, path));
      untuned_fallbacks_ = std::move(untuned.fallbacks);
      finish_seconds_ = seconds_between(start, clock_.now_ns()) + race_options().seconds;
      untuned_written_ = true;
      return {};
    });
  }

  Status time_untuned(const deploy::ModelTasks& tasks, const std::string& path) {
    ATTUNE_RETURN_IF_ERROR(write_untuned(tasks, path));
    return workshop_.errand("race", session::Resource::Device, [&]() -> Status {
      const std::int64_t start = clock_.now_ns();
      ATTUNE_ASSIGN(const std::vector<double> latency_ms,
                    race({path}, {.threads = model_.target.threads, .seconds = 1}));
      untuned_us_ = latency_ms.front() * 1e3;
      device_seconds_ += seconds_between(start, clock_.now_ns());
      return {};
    });
  }

  RaceOptions race_options() const { return {.threads = model_.target.threads}; }

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
    const bool endless = options_.tune.trials && !options_.tune.seconds;
    // The tuned model is compiled and raced within the budget, unless nothing were left of it.
    const double all = options_.tune.seconds.value_or(kDefaultSeconds);
    result.seconds = endless ? 1e9 : std::max(all - spent, 0.25 * all);
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

  // Tuned and untuned artifacts are raced; the faster one becomes the output.
  Result<TuneReport> finish(const deploy::ModelTasks& tasks, const std::string& untuned) {
    std::vector<std::int64_t> uses(tasks.uses.begin(), tasks.uses.end());
    deploy::CompileOptions compile = compile_options();
    std::map<std::string, schedule::Trace> best;
    for (const session::TaskReport& task : reports_) {
      if (task.best_trace.empty() || task.best_is_default) continue;
      auto trace = schedule::parse_trace(task.best_trace);
      if (trace.ok()) best[task.key] = std::move(*trace);
    }
    compile.choose = [&](const graph::Task& task) {
      const auto found = best.find(task.key);
      if (found == best.end()) return deploy::default_schedule(task, model_.target, compile.exact);
      deploy::Schedule schedule{"direct", found->second, deploy::Origin::Record};
      if (!found->second.empty()) {
        if (const auto* step = std::get_if<schedule::Algorithm>(&found->second.front())) {
          schedule.algorithm = step->name;
        }
      }
      return schedule;
    };
    deploy::CompiledModel tuned;
    const TemporaryFile after(fmt::format("{}.{}.tuned", options_.output, getpid()));
    ATTUNE_RETURN_IF_ERROR(on_host("compile", [&]() -> Status {
      ATTUNE_ASSIGN(tuned, teller_.whole_stage(
                               "compile", [&] { return deploy::compile_tasks(tasks, compile); }));
      return deploy::write(tuned, after.path());
    }));
    std::vector<double> latencies;
    ATTUNE_RETURN_IF_ERROR(workshop_.errand("race", session::Resource::Device, [&]() -> Status {
      const std::int64_t race_start = clock_.now_ns();
      ATTUNE_ASSIGN(latencies, teller_.whole_stage("race", [&] {
        return race({untuned, after.path()}, race_options());
      }));
      device_seconds_ += seconds_between(race_start, clock_.now_ns());
      return {};
    }));
    report_.default_latency_ms = latencies[0];
    report_.latency_ms = std::min(latencies[0], latencies[1]);
    report_.untuned_is_best = latencies[0] < latencies[1];
    report_.fallbacks = report_.untuned_is_best ? std::move(untuned_fallbacks_) : tuned.fallbacks;
    std::error_code failure;
    std::filesystem::rename(report_.untuned_is_best ? untuned : after.path(), options_.output,
                            failure);
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
  double untuned_us_ = 0;  // of the whole model; 0: not needed
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

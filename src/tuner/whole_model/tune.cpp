#include "tuner/whole_model/tune.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "compiler/model/load/machine_limits.h"
#include "compiler/model/schedules/known_schedule.h"
#include "tuner/logs/adapt.h"
#include "tuner/records/store.h"
#include "tuner/session/run_local.h"
#include "tuner/session/run_model.h"
#include "tuner/whole_model/contest/model_contest.h"
#include "tuner/whole_model/contest/race.h"
#include "tuner/whole_model/layout_trials.h"
#include "tuner/whole_model/other_tasks.h"
#include "tuner/whole_model/report/model_teller.h"
#include "tuner/whole_model/report/task_teller.h"
#include "tuner/whole_model/report/tune_log.h"
#include "tuner/whole_model/tune_tasks.h"
#include "tuner/whole_model/tuned_model.h"
#include "tuner/whole_model/tuned_schedules.h"
#include "tuner/whole_model/tuning_resources.h"

namespace attune::whole_model {
namespace {

// What comparing the best of one task takes.
constexpr double kClosingSeconds = 0.15;

// What choosing between schedules inside the model may take: of the time in which its tasks were
// measured, and of the whole budget.
constexpr double kInsideShare = 0.2, kInsideReserve = 0.1;
constexpr std::size_t kMostVariants = 12;

// After a goal was missed: what going on takes at least, and by how much of it one aims lower.
constexpr double kLeastSeconds = 2, kLeastMiss = 0.01;

class Tuner {
 public:
  Tuner(TunedModel tuned, const TuneOptions& options, const Progressed& progressed,
        const std::atomic<bool>& stop, TuningResources& resources)
      : options_(options),
        stop_(stop),
        resources_(resources),
        clock_(resources.clock()),
        start_ns_(clock_.now_ns() - static_cast<std::int64_t>(1e9 * tuned.seconds)),
        progressed_(progressed),
        model_(std::move(tuned.model)),
        teller_(options, usual_seconds(), progressed, clock_, start_ns_),
        output_(options.output.empty() ? model::artifact_name(options.model.model)
                                       : options.output),
        inputs_(std::move(tuned.inputs)) {}

  Result<TuneReport> run() {
    ATTUNE_RETURN_IF_ERROR(model::check_runs_on(model_.target, resources_.cores()));
    ATTUNE_RETURN_IF_ERROR(model::check_fits_memory(model_, model::Purpose::Tune));
    const auto open = [&] { return resources_.open(model_.target); };
    ATTUNE_RETURN_IF_ERROR(resources_.count("open", open));
    report_.threads = model_.target.threads;
    report_.target = model_.target_text();
    report_.precision = ops::name_of(model_.precision);
    ATTUNE_ASSIGN(report_.peak_gflops, peak_gflops(resources_, model_.target));
    ATTUNE_RETURN_IF_ERROR(on_host("prepare", [&]() -> Status {
      const auto work = [&] { return prepare(); };
      ATTUNE_ASSIGN(tasks_, has_contest() ? teller_.whole_stage("layouts", work) : work());
      return {};
    }));
    ATTUNE_RETURN_IF_ERROR(
        resources_.aside([&] { return on_host("history", [&] { return open_sessions(); }); }));
    return has_contest() ? tune_whole() : tune_alone();
  }

 private:
  bool has_contest() const { return model_.facts.contest; }
  double usual_seconds() const { return model_.facts.budget.seconds.value_or(0); }

  Status on_host(std::string_view kind, const std::function<Status()>& work) {
    return resources_.run_stage(kind, session::Resource::HostCores, work);
  }

  // The one session has the last word.
  Result<TuneReport> tune_alone() {
    session::Session& session = *sessions_.front();
    TaskTeller teller(options_, progressed_, clock_, start_ns_, report_.peak_gflops);
    resources_.expect_tasks(1);
    ATTUNE_RETURN_IF_ERROR(resources_.aside([&] {
      return session::run_admitted(session, resources_.admission(), clock_, &teller, &stop_,
                                   resources_.enough(), &usage_);
    }));
    take_task_reports();
    const session::TuneReport whole = add_reports(resources_.runner().busy_seconds());
    report_.latency_ms = whole.latency_ms;
    report_.default_latency_ms = whole.default_latency_ms;
    return std::move(report_);
  }

  // In the end artifacts compete, whole against whole.
  Result<TuneReport> tune_whole() {
    ModelContest contest(tasks_, compile_options(), output_, inputs_, resources_, teller_);
    ATTUNE_RETURN_IF_ERROR(tune_until_enough(contest));
    ATTUNE_RETURN_IF_ERROR(contest.deliver(report_, options_.sign));
    for (std::size_t i = 0; i < reports_.size(); ++i)  // without a round: what was known
      if (!reports_[i].best_us) name_known(known_[i], reports_[i]);
    add_reports(device_seconds(contest));
    return std::move(report_);
  }

  // What other runs left counts.
  bool uses_records() const { return options_.resume || options_.history != "none"; }

  // With layouts by what was measured, here or before.
  Result<model::ModelTasks> prepare() {
    ATTUNE_ASSIGN(report_.records, model::records_path(options_.records));
    ATTUNE_ASSIGN(store_, records::open_sqlite_store(report_.records));
    LayoutTrials trials(model_, uses_records(), *store_, resources_);
    model::CompileOptions compile = compile_options();
    compile.before_layouts = [&](const std::vector<graph::Task>& tasks) {
      return trials.time(tasks);
    };
    compile.choose = [&](const graph::Task& task) { return trials.schedule_of(task); };
    return model::prepare_tasks(std::exchange(model_.graph, {}), compile);
  }

  model::CompileOptions compile_options() const {
    return model::compile_options(model_, options_.model);
  }

  Status open_sessions() {
    choose_defaults(tasks_, model_);
    ATTUNE_RETURN_IF_ERROR(bring_known());
    // A session that has the last word finds by itself what is known of its task.
    const std::string own = has_contest() ? "" : tasks_.distinct.front().key;
    ATTUNE_ASSIGN(const session::LoadedHistory others,
                  learn_from_others(*store_, options_.history, model_.target, own));
    report_.history = learnt_history(others);
    const session::Context context{*store_, resources_.builder(), resources_.runner(), clock_};
    for (const TunableTask& task :
         tunable_tasks(tasks_, model_, options_, resources_.task_window())) {
      ATTUNE_ASSIGN(auto opened,
                    open_session(context, task, model_.target, options_.search, others.history));
      sessions_.push_back(std::move(opened));
      weighted_.push_back({sessions_.back().get(), task.weight});
    }
    return has_contest() ? look_up_known() : Status();
  }

  // What the history that the user named and the bundle know about the tasks.
  Status bring_known() {
    ATTUNE_ASSIGN(const auto named, open_history(options_.history));
    ATTUNE_ASSIGN(const model::Bundle bundle, bundle_for(options_.history));
    for (const graph::Task& task : tasks_.distinct) {
      const records::BestQuery query{.task_key = task.key,
                                     .target = target::to_string(model_.target),
                                     .weights = model::weights_of(task, model_.cold_weights)};
      if (named) {
        ATTUNE_RETURN_IF_ERROR(bring_best(*named, query, *store_));
        ATTUNE_RETURN_IF_ERROR(
            bring_hints(*named, task.key, logs::anchor_key(task.op.program), *store_));
      }
      const auto described = model::scheduled_task(task, model_);
      ATTUNE_RETURN_IF_ERROR(hint_shipped(bundle, described, task.name, model_.target, *store_));
    }
    return {};
  }

  // What compiling would take now; without history, what the run that is resumed found.
  Status look_up_known() {
    ATTUNE_ASSIGN(
        const model::ChooseSchedule choose,
        model::known_schedules(model_, {.records = report_.records, .history = options_.history}));
    for (std::size_t i = 0; i < tasks_.distinct.size(); ++i) {
      model::Schedule known = choose(tasks_.distinct[i]);
      if (options_.history == "none") {
        known = tuned_schedule(sessions_[i]->report(), known, known, true);
      }
      known_.push_back(std::move(known));
    }
    return {};
  }

  // A goal is predicted from what the tasks gain by themselves. Where the whole then turns out to
  // be slower, tuning goes on while there is time.
  Status tune_until_enough(ModelContest& contest) {
    contest.set_known(known_);
    resources_.expect_tasks(sessions_.size());
    if (options_.until_latency_ms) {
      ATTUNE_RETURN_IF_ERROR(contest.race_known());
      note_compiled(contest);
    }
    for (bool first = true; !goal_is_met(contest); first = false) {
      bool predicted = false;
      const session::ModelBudget given = budget(contest, first, predicted);
      ATTUNE_RETURN_IF_ERROR(resources_.aside([&] { return tune_tasks(contest, given); }));
      ATTUNE_RETURN_IF_ERROR(race_tuned(contest));
      if (!predicted || !may_go_on()) break;
      for (const auto& session : sessions_) session->go_on();
    }
    if (reports_.empty()) take_task_reports();
    return {};
  }

  bool goal_is_met(const ModelContest& contest) const {
    const auto& until_ms = options_.until_latency_ms;
    return until_ms && contest.best_ms() <= *until_ms;
  }

  bool may_go_on() const {
    const bool enough = resources_.enough() != nullptr && resources_.enough()->load();
    if (stop_.load() || enough) return false;
    return endless() || seconds_left() - finish_seconds_ >= kLeastSeconds;
  }

  Status tune_tasks(ModelContest& contest, const session::ModelBudget& given) {
    const auto write_untuned = [&]() -> Status {
      ATTUNE_RETURN_IF_ERROR(contest.write_untuned());
      note_compiled(contest);
      return {};
    };
    // While the first rounds are measured.
    std::vector<session::RunStage> beside;
    if (!contest.has_untuned()) {
      beside.push_back({.work = {.kind = "compile"}, .perform = write_untuned});
    }
    session::Usage used;
    ATTUNE_RETURN_IF_ERROR(session::run_model(
        weighted_, given, resources_.admission(), clock_,
        [this](const session::ModelProgress& progress) { teller_.forward(progress); }, stop_, &used,
        std::move(beside)));
    usage_ += used;
    if (!contest.has_untuned()) {  // stopped before its turn came
      ATTUNE_RETURN_IF_ERROR(on_host("compile", write_untuned));
    }
    take_task_reports();
    return {};
  }

  void take_task_reports() {
    reports_.clear();
    for (const auto& session : sessions_) reports_.push_back(session->report());
  }

  Status race_tuned(ModelContest& contest) {
    ATTUNE_ASSIGN(auto schedules, tuned_schedules({.tasks = tasks_,
                                                   .model = model_,
                                                   .known = known_,
                                                   .reports = reports_,
                                                   .all_sessions = uses_records(),
                                                   .most = kMostVariants},
                                                  *store_));
    return contest.race_tuned(std::move(schedules), promised(),
                              [&] { return affordable_variants(contest); });
  }

  // The time of all tasks, each by itself, with their best schedules, as a part of that with their
  // default ones.
  double promised() const {
    const session::TuneReport whole = session::summarize(reports_, uses(), 0);
    if (!whole.latency_ms || !whole.default_latency_ms) return 1;
    return *whole.latency_ms / *whole.default_latency_ms;
  }

  std::vector<std::int64_t> uses() const { return {tasks_.uses.begin(), tasks_.uses.end()}; }

  double all_seconds() const { return options_.seconds.value_or(usual_seconds()); }

  double seconds_left() const {
    return all_seconds() - seconds_between(start_ns_, clock_.now_ns());
  }

  session::ModelBudget budget(const ModelContest& contest, bool first, bool& predicted) const {
    session::ModelBudget result;
    // The tuned model is compiled and raced within the budget, unless nothing were left of it.
    const double least = first ? 0.25 * all_seconds() : 0;
    result.seconds = endless() ? 1e9 : std::max(seconds_left(), least);
    result.reserved_seconds = &finish_seconds_;
    result.closing_seconds = kClosingSeconds;
    result.window = resources_.window();
    result.batch = resources_.batch();
    result.enough = resources_.enough();
    if (options_.until_latency_ms) result.goal = goal(contest, first, predicted);
    return result;
  }

  session::Goal goal(const ModelContest& contest, bool first, bool& predicted) const {
    const double until_us = *options_.until_latency_ms * 1e3;
    const double best_us = contest.best_ms() * 1e3;
    if (!first) {  // as far below it as it was missed by, and by something
      const double missed_us = std::max(best_us - until_us, kLeastMiss * until_us);
      return {.before_us = best_us, .until_us = until_us - missed_us, .reached = &predicted};
    }
    // New sessions gain from the default schedules on, others from what they have.
    const bool fresh = std::none_of(sessions_.begin(), sessions_.end(),
                                    [](const auto& session) { return session->last_round(); });
    return {.before_us = fresh ? contest.untuned_ms() * 1e3 : best_us,
            .until_us = until_us,
            .reached = &predicted};
  }

  bool endless() const { return options_.trials && !options_.seconds; }  // no limit of time

  void note_compiled(const ModelContest& contest) {
    const double compiles = contest.is_known_due() ? 2 : 1;
    finish_seconds_ = compiles * contest.compile_seconds() + RaceOptions{}.seconds +
                      1.5 * contest.overlap_seconds() + reserve_inside(contest);
  }

  // What is kept of the budget for choosing inside the model; nothing where that is not enough.
  double reserve_inside(const ModelContest& contest) const {
    if (endless()) return 0;
    const double kept = kInsideReserve * all_seconds();
    const double each = contest.compile_seconds() + kVariantSeconds;
    return kept < 2 * each ? 0 : std::min(kept, static_cast<double>(kMostVariants) * each);
  }

  double device_seconds(const ModelContest& contest) const {
    return resources_.runner().busy_seconds() + contest.device_seconds();
  }

  std::size_t affordable_variants(const ModelContest& contest) const {
    if (stop_.load()) return 0;
    double seconds = kInsideShare * device_seconds(contest) - contest.inside_seconds();
    if (!endless()) {
      seconds =
          std::min(seconds, seconds_left() - contest.compile_seconds() - RaceOptions{}.seconds);
    }
    const double each = contest.compile_seconds() + kVariantSeconds;
    return static_cast<std::size_t>(std::max(0.0, seconds / each));
  }

  session::TuneReport add_reports(double device_seconds) {
    const std::vector<std::int64_t> times = uses();
    const double seconds = seconds_between(start_ns_, clock_.now_ns());
    const session::TuneReport whole = session::summarize(reports_, times, seconds);
    for (std::size_t i = 0; i < reports_.size(); ++i) add_task(reports_[i], times[i], report_);
    report_.trials_per_second = whole.trials_per_second;
    report_.seconds = seconds;
    add_usage(usage_, resources_.run_seconds(), device_seconds, report_);
    report_.device_condition = resources_.runner().condition();
    report_.seed = whole.seed;
    report_.stopped = stop_.load();
    report_.until_latency_ms = options_.until_latency_ms;
    return whole;
  }

  static void name_known(const model::Schedule& known, session::TaskReport& report) {
    report.best_is_default = known.origin == model::Origin::Default;
    report.best_trace = schedule::to_string(known.trace);
  }

  const TuneOptions& options_;
  const std::atomic<bool>& stop_;
  TuningResources& resources_;
  const Clock& clock_;
  std::int64_t start_ns_;
  const Progressed& progressed_;
  model::LoadedModel model_;
  ModelTeller teller_;
  const std::string output_;  // of a contest
  const model::ReadInputs inputs_;
  model::ModelTasks tasks_;
  std::unique_ptr<records::Store> store_;
  // Of each distinct task, in their order.
  std::vector<std::unique_ptr<session::Session>> sessions_;
  std::vector<session::WeightedSession> weighted_;
  std::vector<model::Schedule> known_;  // before
  std::vector<session::TaskReport> reports_;
  TuneReport report_;
  session::Usage usage_;
  // What compiling and racing the tuned model will take: racing, until it was compiled once.
  std::atomic<double> finish_seconds_ = RaceOptions{}.seconds;
};

}  // namespace

Result<TuneReport> tune(const TuneOptions& options, const Progressed& progressed,
                        const std::atomic<bool>& stop) {
  LocalResources resources;
  ATTUNE_RETURN_IF_ERROR(explore::check(options.search));
  const auto work = [&](const Progressed& both) -> Result<TuneReport> {
    ATTUNE_ASSIGN(TunedModel tuned, load_tuned_model(options, resources));
    return Tuner(std::move(tuned), options, both, stop, resources).run();
  };
  return with_log(options.model, options, progressed, work);
}

Result<TuneReport> tune(TunedModel tuned, const TuneOptions& options, const Progressed& progressed,
                        const std::atomic<bool>& stop, TuningResources& resources) {
  ATTUNE_RETURN_IF_ERROR(explore::check(options.search));
  return with_log(options.model, options, progressed, [&](const Progressed& both) {
    return Tuner(std::move(tuned), options, both, stop, resources).run();
  });
}

}  // namespace attune::whole_model

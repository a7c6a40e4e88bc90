#include "tuner/whole_model/look.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/version.h"
#include "compiler/model/bound.h"
#include "tuner/cost_model/descent.h"
#include "tuner/measure/builder/local_builder.h"
#include "tuner/records/store.h"
#include "tuner/space/template_space.h"
#include "tuner/tunings/tunings.h"

namespace attune::whole_model {
namespace {

constexpr std::uint64_t kSeed = 1;  // of the inputs
// Of the time, for the defaults; and of a default's time, what another must save.
constexpr double kForDefaults = 0.4, kSaves = 0.03;
// Closer to its bound than this a default is left alone, as is one that the model hardly feels.
constexpr double kNear = 1.2, kFelt = 0.005;
constexpr std::size_t kAtOnce = 8;  // tasks
constexpr std::size_t kOthers = 5;  // schedules of each
constexpr double kTimeoutMs = 1000;

// A task with its default schedule.
struct Looked {
  const graph::Task* task = nullptr;
  model::Schedule schedule = {};
  double uses = 1;
  double bound_us = 0;
  double weight = 0;              // what it may cost the model, for the order
  std::optional<double> us = {};  // of the default
  bool others_timed = false;
};

struct Trial {
  Looked* looked = nullptr;
  model::Schedule schedule = {};
  measure::BuiltCandidate built = {};
  std::optional<measure::RunResult> result = {};

  std::optional<double> us() const {
    const auto* timing = result ? std::get_if<outcome::Timing>(&result->outcome) : nullptr;
    return timing ? std::optional(timing->best_us) : std::nullopt;
  }
  bool verified() const {
    const auto* timing = result ? std::get_if<outcome::Timing>(&result->outcome) : nullptr;
    return timing && timing->verified;
  }
};

class Look {
 public:
  Look(const model::PreparedModel& prepared, const LookOptions& options)
      : prepared_(prepared),
        options_(options),
        target_(prepared.compile.target),
        tuning_(tunings::tuning_of(target_)),
        cores_(tunings::plan_cores(target_)),
        builder_({.target = target_, .cores = {}}) {}

  Result<LookReport> run() {
    collect();
    if (tasks_.empty()) return report_;
    ATTUNE_ASSIGN(runner_, tuning_.start_runner({.target = target_, .cores = cores_.measure}));
    ATTUNE_RETURN_IF_ERROR(time_defaults());
    ATTUNE_RETURN_IF_ERROR(time_others());
    ATTUNE_RETURN_IF_ERROR(remember());
    report_.seconds = seconds();
    return std::move(report_);
  }

 private:
  double seconds() const { return seconds_between(start_, clock_.now_ns()); }

  void collect() {
    const auto& distinct = prepared_.tasks.distinct;
    for (std::size_t i = 0; i < distinct.size(); ++i) {
      model::Schedule schedule = prepared_.know(distinct[i]).schedule;
      if (schedule.origin != model::Origin::Default)
        continue;  // one that was looked at has a record
      Looked looked{&distinct[i], std::move(schedule),
                    static_cast<double>(prepared_.tasks.uses[i])};
      looked.bound_us = model::bound_us(distinct[i], target_, prepared_.model.cold_weights);
      looked.weight = looked.uses * looked.bound_us;
      tasks_.push_back(std::move(looked));
    }
    heaviest_first();
  }

  void heaviest_first() {
    std::stable_sort(tasks_.begin(), tasks_.end(),
                     [](const Looked& a, const Looked& b) { return a.weight > b.weight; });
  }

  Status time_defaults() {
    for (std::size_t first = 0; first < tasks_.size(); first += kAtOnce) {
      if (first > 0 && seconds() > kForDefaults * options_.seconds) break;
      std::vector<Trial> trials;
      for (std::size_t i = first; i < std::min(tasks_.size(), first + kAtOnce); ++i) {
        trials.push_back({&tasks_[i], tasks_[i].schedule});
      }
      ATTUNE_RETURN_IF_ERROR(time(trials));
      for (Trial& trial : trials) {
        trial.looked->us = trial.us();
        if (trial.looked->us) defaults_.push_back(std::move(trial));
      }
      report_.timed += trials.size();
    }
    return {};
  }

  // Those first in which the model may gain most.
  Status time_others() {
    double total = 0;
    for (const Trial& known : defaults_) total += known.looked->uses * *known.looked->us;
    std::vector<Looked*> order;
    for (Looked& looked : tasks_) {
      if (!looked.us) continue;
      looked.weight = looked.uses * (*looked.us - looked.bound_us);
      const bool felt = looked.weight > kFelt * total;
      if (felt && *looked.us > kNear * looked.bound_us) order.push_back(&looked);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const Looked* a, const Looked* b) { return a->weight > b->weight; });
    constexpr std::size_t kTasks = 2;
    for (std::size_t first = 0; first < order.size() && seconds() < options_.seconds;
         first += kTasks) {
      std::vector<Trial> trials;
      for (std::size_t i = first; i < std::min(order.size(), first + kTasks); ++i) {
        add_others(*order[i], trials);
        order[i]->others_timed = true;
        ++report_.looked;
      }
      ATTUNE_RETURN_IF_ERROR(time(trials));
      for (Trial& trial : trials) take_if_best(trial);
    }
    return {};
  }

  // What the analytic model believes in, the default left out.
  void add_others(Looked& looked, std::vector<Trial>& trials) const {
    std::vector<space::NamedProgram> programs;
    const auto add = [&](const std::string& name, const ir::Program& program) {
      if (prepared_.compile.algorithms.allow(name)) programs.push_back({name, program});
    };
    add("direct", looked.task->op.program);
    for (const ops::AlgorithmDef& other : looked.task->op.alternatives) {
      add(other.name, other.program);
    }
    const space::TemplateSpace space(std::move(programs), tuning_.templates(), target_);
    const auto model = tuning_.prior(target_);
    const std::uint64_t own = schedule::hash(looked.schedule.trace);
    std::size_t added = 0;
    for (const auto& predicted : cost_model::fastest_predicted(space, *model, kOthers + 1)) {
      schedule::Trace trace = space.trace_of(predicted.point);
      if (schedule::hash(trace) == own || added == kOthers) continue;
      model::Schedule schedule = model::recorded_schedule(std::move(trace));
      schedule.origin = model::Origin::Default;
      trials.push_back({&looked, std::move(schedule)});
      ++added;
    }
  }

  Status time(std::vector<Trial>& trials) {
    std::vector<measure::BuildRequest> requests;
    for (const Trial& trial : trials) {
      const ir::Program* program = model::program_of(*trial.looked->task, trial.schedule.algorithm);
      requests.push_back(
          {.candidate = {.trace = trial.schedule.trace, .number = std::ssize(requests)},
           .program = std::make_shared<ir::Program>(*program)});
    }
    std::vector<measure::BuiltCandidate> built = builder_.build(requests);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      trials[i].built = std::move(built[i]);
      if (trials[i].built.failure) continue;
      const measure::RunRequest request = request_of(trials[i], {});
      ATTUNE_ASSIGN(auto results,
                    runner_->measure({&request, 1}, {}, options_for(*trials[i].looked)));
      trials[i].result = std::move(results.front());
    }
    return {};
  }

  measure::RunOptions options_for(const Looked& looked) const {
    measure::RunOptions how;
    how.weights = weights_of(looked);
    how.best_known_us = looked.us.value_or(0);
    how.budget_us = 4 * how.repeat_us;
    how.again = 0;
    how.timeout_ms = kTimeoutMs;
    return how;
  }

  static measure::RunRequest request_of(const Trial& trial,
                                        const measure::Expectation& expectation) {
    const double tolerance = tolerance_of(*trial.looked->task, trial.schedule.algorithm);
    return {&trial.built, tolerance * expectation.magnitude};
  }

  records::Weights weights_of(const Looked& looked) const {
    return model::weights_of(*looked.task, prepared_.model.cold_weights);
  }

  static double tolerance_of(const graph::Task& task, const std::string& algorithm) {
    for (const ops::AlgorithmDef& other : task.op.alternatives) {
      if (other.name == algorithm) return other.tolerance;
    }
    return task.op.tolerance;
  }

  void take_if_best(Trial& trial) {
    const auto us = trial.us();
    if (!us || *us > (1 - kSaves) * *trial.looked->us) return;
    const auto [best, is_new] = best_.try_emplace(trial.looked->task->key);
    if (is_new || *us < *best->second.us()) best->second = std::move(trial);
  }

  // What was looked at is checked and timed once more, the default and the best of the others in
  // turns; both become records, so that nobody looks again.
  Status remember() {
    std::vector<records::Record> records;
    for (Trial& known : defaults_) {
      if (!known.looked->others_timed) continue;
      const std::string& key = known.looked->task->key;
      const auto best = best_.find(key);
      std::vector<Trial*> finalists{&known};
      if (best != best_.end()) finalists.push_back(&best->second);
      ATTUNE_RETURN_IF_ERROR(race(finalists));
      for (const Trial* trial : finalists) {
        if (trial->verified()) records.push_back(record_of(*trial));
      }
      if (finalists.size() == 1 || !finalists[1]->verified()) continue;
      Trial& other = *finalists[1];
      if (known.verified() && *other.us() > (1 - kSaves) * *known.us()) continue;
      other.schedule.measured_us = *other.us();
      report_.better.emplace(key, other.schedule);
    }
    if (records.empty()) return {};
    ATTUNE_ASSIGN(const std::string path, model::records_path(options_.records));
    ATTUNE_ASSIGN(const auto store, records::open_sqlite_store(path));
    const auto added = store->add(records);
    return added.ok() ? Status() : added.error();
  }

  // Schedules of one task.
  Status race(const std::vector<Trial*>& finalists) {
    const graph::Task& task = *finalists[0]->looked->task;
    ATTUNE_ASSIGN(const measure::Expectation expectation, builder_.expect(task.op.program, kSeed));
    std::vector<measure::RunRequest> requests;
    for (const Trial* trial : finalists) requests.push_back(request_of(*trial, expectation));
    measure::RunOptions how = options_for(*finalists[0]->looked);
    how.compare_rounds = 3;
    how.compare_round_ms = 0;
    how.compare_repeat_us = 2 * how.repeat_us;
    ATTUNE_ASSIGN(auto results, runner_->compare(requests, expectation, how));
    for (std::size_t i = 0; i < finalists.size(); ++i) finalists[i]->result = std::move(results[i]);
    return {};
  }

  records::Record record_of(const Trial& trial) const {
    records::Record record;
    record.task_key = trial.looked->task->key;
    record.task_name = trial.looked->task->name;
    record.target = target::to_string(target_);
    record.trace = schedule::to_string(trial.schedule.trace);
    record.trace_hash = schedule::hash(trial.schedule.trace);
    record.outcome = trial.result->outcome;
    record.weights = weights_of(*trial.looked);
    record.stages = {trial.built.build_ms, trial.result->run_ms, trial.result->wait_ms};
    record.product_version = version();
    record.device = runner_->device();
    record.noise = trial.result->noise;
    record.verified = true;
    record.created_at_ms = unix_time_ms();
    return record;
  }

  const model::PreparedModel& prepared_;
  const LookOptions& options_;
  const target::Target& target_;
  const tuning::Tuning& tuning_;
  const tuning::CorePlan cores_;
  builder::LocalBuilder builder_;
  std::unique_ptr<measure::Runner> runner_;
  const SteadyClock clock_;
  const std::int64_t start_ = clock_.now_ns();
  std::vector<Looked> tasks_;
  std::vector<Trial> defaults_;
  std::map<std::string, Trial> best_;  // by the key of the task
  LookReport report_;
};

}  // namespace

Result<LookReport> look(const model::PreparedModel& prepared, const LookOptions& options) {
  return Look(prepared, options).run();
}

}  // namespace attune::whole_model

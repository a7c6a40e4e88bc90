#include "tuner/whole_model/look.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/version.h"
#include "compiler/model/bound.h"
#include "compiler/model/kernels.h"
#include "compiler/model/load/runnable_model.h"
#include "compiler/schedule/algorithm.h"
#include "runtime/execution/usable_cores.h"
#include "tuner/cost_model/descent.h"
#include "tuner/measure/builder/local_builder.h"
#include "tuner/records/store.h"
#include "tuner/space/template_space.h"
#include "tuner/tunings/tunings.h"
#include "tuner/whole_model/contest/kernel_times.h"
#include "tuner/whole_model/look_order.h"

namespace attune::whole_model {
namespace {

constexpr std::uint64_t kSeed = 1;    // of the inputs
constexpr double kRunSeconds = 0.25;  // of runs of the whole model, one at least
constexpr double kSaves = 0.03;       // of a default's time, what another must save
constexpr std::size_t kOthers = 5;    // schedules of each task
constexpr double kTimeoutMs = 1000;
// Of the operands of a task: what checks more of them takes longer than the whole look.
constexpr double kMostElements = 1 << 24;

// A task with its default schedule, timed by itself where it runs.
struct Looked {
  const graph::Task* task = nullptr;
  std::size_t number = 0;  // among the distinct ones
  model::Schedule schedule = {};
};

// A schedule that is timed for it: the default or another.
struct Entry {
  Looked* looked = nullptr;
  space::Candidate candidate = {};

  bool is_default() const { return candidate.trace_hash == schedule::hash(looked->schedule.trace); }
  double us() const { return *candidate.time_us; }
};

// By the numbers of the candidates.
using Built = std::vector<measure::BuiltCandidate>;

std::optional<double> us_of(const measure::RunResult& result) {
  const auto* timing = std::get_if<outcome::Timing>(&result.outcome);
  return timing ? std::optional(timing->best_us) : std::nullopt;
}

bool is_verified(const measure::RunResult& result) {
  const auto* timing = std::get_if<outcome::Timing>(&result.outcome);
  return timing && timing->verified;
}

double elements_of(const graph::Task& task) {
  double elements = 0;
  for (const ir::Input& input : task.op.program.inputs) {
    double each = 1;
    for (const std::int64_t extent : input.buffer->shape) each *= static_cast<double>(extent);
    elements += each;
  }
  return elements;
}

class Look {
 public:
  Look(const model::PreparedModel& prepared, const LookOptions& options)
      : prepared_(prepared),
        options_(options),
        target_(prepared.compile.target),
        tuning_(tunings::tuning_of(target_)),
        cores_(tunings::plan_cores(target_)) {}

  Result<LookReport> run() {
    collect();
    if (tasks_.empty()) return report_;
    const std::vector<std::size_t> order = most_promising_first();
    start_ = clock_.now_ns();
    ATTUNE_ASSIGN(runner_, tuning_.start_runner({.target = target_, .cores = cores_.measure}));
    builder_ = std::make_unique<builder::LocalBuilder>(
        builder::LocalBuilderOptions{.target = target_, .cores = {}});
    ATTUNE_RETURN_IF_ERROR(look_at(order));
    ATTUNE_RETURN_IF_ERROR(remember());
    report_.timed = std::max(report_.timed, report_.looked);
    report_.seconds += seconds();
    return std::move(report_);
  }

 private:
  double seconds() const { return seconds_between(start_, clock_.now_ns()); }

  void collect() {
    const auto& distinct = prepared_.tasks.distinct;
    for (std::size_t i = 0; i < distinct.size(); ++i) {
      // One that was looked at has a record.
      if (prepared_.schedules[i].origin != model::Origin::Default) continue;
      if (elements_of(distinct[i]) > kMostElements) continue;
      tasks_.push_back({&distinct[i], i, prepared_.schedules[i]});
    }
  }

  // Numbers of tasks_. Where the model does not run on random inputs nothing is known but bounds.
  std::vector<std::size_t> most_promising_first() {
    KernelTimes times;
    if (tasks_.size() > 1) {
      if (Result<KernelTimes> timed = times_in_model(); timed.ok()) times = std::move(*timed);
    }
    std::vector<LookTask> ranked;
    for (const Looked& looked : tasks_) {
      LookTask task{
          .uses = static_cast<double>(prepared_.tasks.uses[looked.number]),
          .bound_us = model::bound_us(*looked.task, target_, prepared_.model.cold_weights)};
      if (!times.empty() && times[looked.number] > 0) task.us = times[looked.number] / task.uses;
      ranked.push_back(task);
      report_.timed += task.us ? 1 : 0;
    }
    return by_gain(ranked);
  }

  // Compiled with the kernels that the model will have, unless others turn out to be better.
  Result<KernelTimes> times_in_model() {
    model::CompileOptions compile = prepared_.compile;
    compile.observe = {};
    ATTUNE_ASSIGN(const model::CompiledModel compiled,
                  model::compile_tasks(prepared_.tasks, prepared_.schedules, compile));
    const std::int64_t start = clock_.now_ns();
    ATTUNE_ASSIGN(const model::RunnableModel runnable, model::runnable_of(compiled));
    auto times = time_kernels(runnable, kRunSeconds);
    report_.seconds = seconds_between(start, clock_.now_ns());
    return times;
  }

  // As many tasks at once as fill the cores that build.
  Status look_at(const std::vector<std::size_t>& order) {
    const std::size_t at_once = std::max<std::size_t>(1, runtime::usable_cores().size() / kOthers);
    StepBudget budget(options_.seconds);
    for (std::size_t first = 0; first < order.size() && budget.allows_another(seconds());
         first += at_once) {
      const double begin = seconds();
      std::vector<Looked*> some;
      for (std::size_t i = first; i < std::min(order.size(), first + at_once); ++i) {
        some.push_back(&tasks_[order[i]]);
      }
      ATTUNE_RETURN_IF_ERROR(look_at(some));
      budget.add_step(seconds() - begin);
    }
    return {};
  }

  Status look_at(const std::vector<Looked*>& some) {
    std::vector<std::vector<schedule::Trace>> others(some.size());
    ATTUNE_RETURN_IF_ERROR(
        model::run_parallel(some.size(), model::compiling_threads(), [&](std::size_t i) -> Status {
          others[i] = others_of(*some[i]);
          return {};
        }));
    std::vector<Entry> entries;
    const auto enter = [&](Looked* looked, schedule::Trace trace) {
      const std::uint64_t hash = schedule::hash(trace);
      entries.push_back(
          {looked, {.trace = std::move(trace), .trace_hash = hash, .number = std::ssize(entries)}});
    };
    for (std::size_t i = 0; i < some.size(); ++i) {
      enter(some[i], some[i]->schedule.trace);
      for (schedule::Trace& other : others[i]) enter(some[i], std::move(other));
    }
    const Built built = build(entries);
    ATTUNE_RETURN_IF_ERROR(time(entries, built));
    for (Looked* looked : some) ATTUNE_RETURN_IF_ERROR(decide(*looked, entries, built));
    report_.looked += some.size();
    return {};
  }

  // The default and the fastest of the others are checked and timed once more, in turns; both
  // become records, so that nobody looks again.
  Status decide(const Looked& looked, std::vector<Entry>& entries, const Built& built) {
    Entry* known = nullptr;
    Entry* best = nullptr;
    for (Entry& entry : entries) {
      if (entry.looked != &looked || !entry.candidate.time_us) continue;
      if (known == nullptr && entry.is_default()) {
        known = &entry;
      } else if (best == nullptr || entry.us() < best->us()) {
        best = &entry;
      }
    }
    if (known == nullptr) return {};
    std::vector<Entry*> finalists{known};
    if (best != nullptr && best->us() <= (1 - kSaves) * known->us()) finalists.push_back(best);
    ATTUNE_ASSIGN(const std::vector<measure::RunResult> results, race(finalists, built));
    for (std::size_t i = 0; i < finalists.size(); ++i) {
      finalists[i]->candidate.time_us = us_of(results[i]);
      if (is_verified(results[i])) records_.push_back(record_of(*finalists[i], built, results[i]));
    }
    if (finalists.size() == 1 || !is_verified(results[1])) return {};
    if (is_verified(results[0]) && best->us() > (1 - kSaves) * known->us()) return {};
    model::Schedule better = model::recorded_schedule(best->candidate.trace);
    better.origin = model::Origin::Default;
    better.measured_us = best->us();
    report_.better.emplace(looked.number, std::move(better));
    return {};
  }

  // What the analytic model believes in, the default left out.
  std::vector<schedule::Trace> others_of(const Looked& looked) const {
    std::vector<space::NamedProgram> programs;
    const auto add = [&](const std::string& name, const ir::Program& program) {
      if (prepared_.compile.algorithms.allow(name)) programs.push_back({name, program});
    };
    add("direct", looked.task->op.program);
    for (const ops::AlgorithmDef& other : looked.task->op.alternatives) {
      add(other.name, other.program);
    }
    const space::TemplateSpace space(std::move(programs), tuning_.templates(), target_);
    const auto model = tuning_.prior(target_, weights_of(looked) == records::Weights::Cold);
    const std::uint64_t usual = schedule::hash(looked.schedule.trace);
    std::vector<schedule::Trace> others;
    for (const auto& predicted : cost_model::fastest_predicted(space, *model, kOthers + 1)) {
      schedule::Trace trace = space.trace_of(predicted.point);
      if (schedule::hash(trace) == usual || others.size() == kOthers) continue;
      others.push_back(std::move(trace));
    }
    return others;
  }

  Built build(const std::vector<Entry>& entries) {
    std::vector<measure::BuildRequest> requests;
    for (const Entry& entry : entries) {
      const ir::Program* program =
          model::program_of(*entry.looked->task, schedule::algorithm_of(entry.candidate.trace));
      requests.push_back({.candidate = entry.candidate,
                          .program = std::make_shared<ir::Program>(*program),
                          .timeout_ms = kTimeoutMs});
    }
    return builder_->build(requests);
  }

  Status time(std::vector<Entry>& entries, const Built& built) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (built[i].failure) continue;
      const measure::RunRequest request = request_of(entries[i], built, {});
      ATTUNE_ASSIGN(const auto results,
                    runner_->measure({&request, 1}, {}, options_for(*entries[i].looked)));
      entries[i].candidate.time_us = us_of(results.front());
      if (entries[i].is_default()) {
        entries[i].looked->schedule.measured_us = entries[i].candidate.time_us;
      }
    }
    return {};
  }

  measure::RunOptions options_for(const Looked& looked) const {
    measure::RunOptions how;
    how.weights = weights_of(looked);
    how.best_known_us = looked.schedule.measured_us.value_or(0);
    how.budget_us = 4 * how.repeat_us;
    how.again = 0;
    how.timeout_ms = kTimeoutMs;
    return how;
  }

  static measure::RunRequest request_of(const Entry& entry, const Built& built,
                                        const measure::Expectation& expectation) {
    const double tolerance =
        tolerance_of(*entry.looked->task, schedule::algorithm_of(entry.candidate.trace));
    return {&built_of(entry, built), tolerance * expectation.magnitude};
  }

  static const measure::BuiltCandidate& built_of(const Entry& entry, const Built& built) {
    return built[static_cast<std::size_t>(entry.candidate.number)];
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

  Status remember() const {
    if (records_.empty() || !options_.remember) return {};
    ATTUNE_ASSIGN(const std::string path, model::records_path(options_.records));
    ATTUNE_ASSIGN(const auto store, records::open_sqlite_store(path));
    const auto added = store->add(records_);
    return added.ok() ? Status() : added.error();
  }

  // Schedules of one task.
  Result<std::vector<measure::RunResult>> race(const std::vector<Entry*>& finalists,
                                               const Built& built) {
    const graph::Task& task = *finalists[0]->looked->task;
    ATTUNE_ASSIGN(const measure::Expectation expectation, builder_->expect(task.op.program, kSeed));
    std::vector<measure::RunRequest> requests;
    for (const Entry* entry : finalists) {
      requests.push_back(request_of(*entry, built, expectation));
    }
    measure::RunOptions how = options_for(*finalists[0]->looked);
    how.compare_rounds = 3;
    how.compare_round_ms = 0;
    how.compare_repeat_us = 2 * how.repeat_us;
    return runner_->compare(requests, expectation, how);
  }

  records::Record record_of(const Entry& entry, const Built& built,
                            const measure::RunResult& result) const {
    records::Record record;
    record.task_key = entry.looked->task->key;
    record.task_name = entry.looked->task->name;
    record.target = target::to_string(target_);
    record.trace = schedule::to_string(entry.candidate.trace);
    record.trace_hash = entry.candidate.trace_hash;
    record.outcome = result.outcome;
    record.weights = weights_of(*entry.looked);
    record.stages = {built_of(entry, built).build_ms, result.run_ms, result.wait_ms};
    record.product_version = version();
    record.device = runner_->device();
    record.noise = result.noise;
    record.verified = true;
    record.created_at_ms = unix_time_ms();
    return record;
  }

  const model::PreparedModel& prepared_;
  const LookOptions& options_;
  const target::Target& target_;
  const tuning::Tuning& tuning_;
  const tuning::CorePlan cores_;
  std::unique_ptr<measure::Runner> runner_;
  std::unique_ptr<builder::LocalBuilder> builder_;
  const SteadyClock clock_;
  std::int64_t start_ = 0;  // of looking, when the model has run
  std::vector<Looked> tasks_;
  std::vector<records::Record> records_;
  LookReport report_;
};

}  // namespace

Result<LookReport> look(const model::PreparedModel& prepared, const LookOptions& options) {
  return Look(prepared, options).run();
}

}  // namespace attune::whole_model

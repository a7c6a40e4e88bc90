#include "tuner/whole_model/tune_tasks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/version.h"
#include "compiler/model/kernels.h"
#include "tuner/session/explorer_search.h"
#include "tuner/tunings/tunings.h"
#include "tuner/whole_model/anchor_hints.h"
#include "tuner/whole_model/tuning_resources.h"

namespace attune::whole_model {
namespace {

// What a budget of seconds alone stands for.
constexpr std::int64_t kEndlessTrials = 1'000'000'000;
// Repeats of a promising candidate. One task of many is timed more briefly: there are more of them,
// and the whole model is compared in the end.
constexpr int kRepeats = 15;
constexpr int kModelRepeats = 5;
constexpr int kModelCompareRounds = 4;

// The direct algorithm is the reference even where it does not compete.
session::Task task_of(const graph::Task& task, const model::Algorithms& allowed) {
  session::Task result{
      .key = task.key, .name = task.name, .flops = task.op.flops, .algorithms = {}};
  result.algorithms.push_back({"direct", std::make_shared<ir::Program>(task.op.program),
                               task.op.tolerance, allowed.allow("direct")});
  for (const ops::AlgorithmDef& other : task.op.alternatives) {
    if (!allowed.allow(other.name)) continue;
    result.algorithms.push_back(
        {other.name, std::make_shared<ir::Program>(other.program), other.tolerance, true});
  }
  return result;
}

std::string names_of_competing(const session::Task& task) {
  std::vector<std::string> names;
  for (const auto& algorithm : task.algorithms) {
    if (algorithm.competes) names.push_back(algorithm.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

session::Options options_of(const TuneOptions& options, const std::string& among, int batch,
                            int repeats) {
  const MeasuringOptions& measuring = options.measuring;
  session::Options result;
  result.seed = options.seed.value_or(0);
  result.resume = options.resume;
  result.use_history = options.history != "none";
  result.batch = measuring.batch.value_or(batch);
  result.run.timeout_ms = 1e3 * measuring.timeout_seconds;
  result.build_timeout_ms = 1e3 * measuring.build_timeout_seconds;
  repeats = measuring.repeats.value_or(repeats);
  result.run.budget_us = repeats * result.run.repeat_us;
  result.search_name =
      fmt::format("{} batch={} timeout={} repeats={} of {}", explore::to_string(options.search),
                  result.batch, measuring.timeout_seconds, repeats, among);
  result.version = version();
  return result;
}

std::int64_t trials_of(const TuneOptions& options, const model::UsualBudget& usual) {
  if (options.trials) return *options.trials;
  return options.seconds ? kEndlessTrials : usual.trials.value_or(kEndlessTrials);
}

// Alone, a task is searched until its trials are used up, and its session has the last word.
void tune_alone(const TuneOptions& options, const model::LoadedModel& model, int window,
                TunableTask& one) {
  one.options =
      options_of(options, names_of_competing(one.task), session::Options{}.batch, kRepeats);
  one.options.trials = trials_of(options, model.facts.budget);
  one.options.seconds = options.seconds.value_or(0);
  one.options.window = window;
  if (options.until_latency_ms) one.options.until_us = *options.until_latency_ms * 1e3;
}

// One of many has a share of their budget.
void tune_among_others(const TuneOptions& options, const model::LoadedModel& model,
                       TunableTask& one) {
  one.options = options_of(options, model.algorithms.exact() ? "a model, exact" : "a model",
                           kModelBatch, kModelRepeats);
  one.options.trials = trials_of(options, model.facts.budget);
  one.options.on_grant = true;
  one.options.finalists = 5;
  // Without pauses: the whole model is compared in the end.
  one.options.run.compare_rounds = kModelCompareRounds;
  one.options.run.compare_round_ms = 0;
}

}  // namespace

void choose_defaults(const model::ModelTasks& tasks, const model::LoadedModel& model) {
  (void)model::run_parallel(tasks.distinct.size(), model::compiling_threads(),
                            [&](std::size_t i) -> Status {
                              (void)model.default_of(tasks.distinct[i]);
                              return {};
                            });
}

std::vector<TunableTask> tunable_tasks(const model::ModelTasks& tasks,
                                       const model::LoadedModel& model, const TuneOptions& options,
                                       int window) {
  choose_defaults(tasks, model);
  std::vector<TunableTask> result;
  for (std::size_t i = 0; i < tasks.distinct.size(); ++i) {
    const graph::Task& task = tasks.distinct[i];
    TunableTask& one = result.emplace_back();
    one.task = task_of(task, model.algorithms);
    one.any_seed = !options.seed.has_value();
    one.untuned = model.default_of(task).trace;
    if (model.facts.contest) {
      tune_among_others(options, model, one);
    } else {
      tune_alone(options, model, window, one);
    }
    one.options.weights = model::weights_of(task, model.cold_weights);
    const auto uses = static_cast<double>(tasks.uses[i]);
    one.weight = {.uses = uses, .prior = uses * one.task.flops};
  }
  return result;
}

int model_window(const tuning::CorePlan& cores) {
  constexpr int kFewest = 4;
  return cores.overlap ? kFewest + std::max(1, static_cast<int>(cores.build.size()) / 2) : kFewest;
}

Result<double> peak_gflops(TuningResources& resources, const target::Target& target) {
  double peak = 0;
  ATTUNE_RETURN_IF_ERROR(resources.run_stage("peak", session::Resource::Device, [&]() -> Status {
    ATTUNE_ASSIGN(peak, tunings::tuning_of(target).peak_gflops(target));
    return {};
  }));
  return peak;
}

Result<std::unique_ptr<session::Session>> open_session(
    const session::Context& context, const TunableTask& task, const target::Target& target,
    const explore::SearchOptions& search, std::shared_ptr<const cost_model::History> history) {
  session::Options options = task.options;
  if (options.resume && task.any_seed) {
    ATTUNE_ASSIGN(const auto newest, session::newest_seed(context.store, task.task.key,
                                                          target::to_string(target), options));
    options.seed = newest.value_or(options.seed);
  }
  ATTUNE_ASSIGN(auto made, session::make_template_search(task.task, target, search, options.seed,
                                                         std::move(history)));
  // Schedules of the same anchor among other fused stages; one that is tuned alone has none.
  if (options.on_grant && options.use_history) {
    ATTUNE_ASSIGN(options.hints, anchor_hints(context.store, task.task, target));
  }
  return session::Session::open(context, task.task, target::to_string(target), std::move(made),
                                task.untuned, std::move(options));
}

}  // namespace attune::whole_model

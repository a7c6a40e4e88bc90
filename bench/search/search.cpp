// How quickly the search finds good schedules: a long run and several short ones with other seeds,
// all without history; prints the best time after 1, 2, 4 … trials, and what share of the long
// run's speed the short ones reach, their winners timed in turns.
//
// usage: bench_search [-long=N] [-short=N] [-seeds=N] [-explorer=NAME] [-target=TARGET] SPEC...
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "compiler/codegen/codegen.h"
#include "compiler/frontend/op_spec/op_spec.h"
#include "tuner/measure/builder/local_builder.h"
#include "tuner/measure/local_runner.h"
#include "tuner/session/explorer_search.h"

namespace attune {
namespace {

struct Options {
  std::vector<std::string> specs;
  std::size_t long_trials = 1000, short_trials = 64, seeds = 3;
  std::string explorer = "annealing";
  std::string target = "cpu -threads=1";
};

constexpr std::size_t kBatch = 24;

struct Trial {
  schedule::Trace trace;
  std::optional<double> us;
};

// What the benchmark works with.
struct Bench {
  const Options& options;
  ir::Target target;
  measure::Runner& runner;
  builder::LocalBuilder& builder;
  session::Task task = {};
};

std::vector<measure::BuiltCandidate> build(const Bench& bench, const std::vector<Trial>& trials) {
  std::vector<measure::BuildRequest> requests;
  for (const Trial& trial : trials) {
    const auto algorithm = session::algorithm_of(bench.task, trial.trace);
    CHECK(algorithm.ok(), "searches propose algorithms of the task");
    requests.push_back(
        {static_cast<std::int64_t>(requests.size()), (*algorithm)->program, trial.trace});
  }
  return bench.builder.build(requests);
}

session::Task task_of(const op_spec::OpTask& op) {
  session::Task task{.key = op.key, .name = op.spec, .flops = op.flops, .algorithms = {}};
  task.algorithms.push_back({"direct", std::make_shared<const ir::Program>(op.program),
                             op.tolerance, op.algorithm == "auto" || op.algorithm == "direct"});
  for (const auto& other : op.alternatives) {
    task.algorithms.push_back(
        {other.name, std::make_shared<const ir::Program>(other.program), other.tolerance});
  }
  return task;
}

Status measure_all(const Bench& bench, std::vector<Trial>& trials, double best_us) {
  const auto built = build(bench, trials);
  std::vector<measure::RunRequest> runs;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; i < built.size(); ++i) {
    if (built[i].failure) continue;
    runs.push_back({&built[i], 0});
    owners.push_back(i);
  }
  ATTUNE_ASSIGN(const auto results, bench.runner.measure(runs, {}, {.best_known_us = best_us}));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto* timing = std::get_if<runtime::Timing>(&results[i].outcome);
    if (timing) trials[owners[i]].us = timing->best_us;
  }
  return {};
}

// The trials of one run, in order.
Result<std::vector<Trial>> search(const Bench& bench, std::size_t count, std::uint64_t seed) {
  ATTUNE_ASSIGN(auto explorer, session::make_template_search(bench.task, bench.target,
                                                             bench.options.explorer, seed));
  std::vector<Trial> all;
  double best_us = 0;
  while (all.size() < count) {
    std::vector<Trial> batch;
    for (auto& p : explorer->select(std::min(kBatch, count - all.size()))) {
      batch.push_back({std::move(p.trace), {}});
    }
    if (batch.empty()) break;
    ATTUNE_RETURN_IF_ERROR(measure_all(bench, batch, best_us));
    std::vector<session::Observation> observations;
    for (const Trial& trial : batch) {
      observations.push_back({schedule::hash(trial.trace), &trial.trace, trial.us});
      if (trial.us && (best_us == 0 || *trial.us < best_us)) best_us = *trial.us;
    }
    explorer->update(observations);
    for (Trial& trial : batch) all.push_back(std::move(trial));
  }
  return all;
}

const Trial* best_of(const std::vector<Trial>& trials, std::size_t count) {
  const Trial* best = nullptr;
  for (std::size_t i = 0; i < std::min(count, trials.size()); ++i) {
    if (trials[i].us && (!best || *trials[i].us < *best->us)) best = &trials[i];
  }
  return best;
}

void print_curve(std::string_view name, const std::vector<Trial>& trials) {
  fmt::print("  {:10}", name);
  for (std::size_t count = 1; count < 2 * trials.size(); count *= 2) {
    const Trial* best = best_of(trials, count);
    fmt::print(" {}:{:.1f}", std::min(count, trials.size()), best ? *best->us : 0.0);
  }
  std::size_t failed = 0;
  for (const Trial& trial : trials) failed += !trial.us;
  fmt::print(" us, {} failed\n", failed);
}

Status run_spec(Bench bench, const std::string& spec) {
  ATTUNE_ASSIGN(const auto task, op_spec::parse_op_spec(spec, bench.target));
  bench.task = task_of(task);
  fmt::print("{}\n", task.spec);
  std::vector<Trial> winners;
  for (std::size_t seed = 0; seed <= bench.options.seeds; ++seed) {
    const std::size_t count = seed == 0 ? bench.options.long_trials : bench.options.short_trials;
    ATTUNE_ASSIGN(const auto trials, search(bench, count, 100 + seed));
    print_curve(seed == 0 ? "long" : fmt::format("seed {}", seed), trials);
    const Trial* best = best_of(trials, trials.size());
    if (!best) return invalid("no candidate could be timed");
    winners.push_back(*best);
  }
  const auto built = build(bench, winners);
  std::vector<measure::RunRequest> runs;
  for (const auto& candidate : built) runs.push_back({&candidate, 0});
  ATTUNE_ASSIGN(const auto results, bench.runner.compare(runs, {}, {}));
  std::vector<double> us;
  for (const auto& result : results) {
    const auto* timing = std::get_if<runtime::Timing>(&result.outcome);
    us.push_back(timing ? timing->best_us : 0);
  }
  double sum = 0;
  for (std::size_t i = 1; i < us.size(); ++i) sum += us[i] > 0 ? us[0] / us[i] : 0;
  fmt::print(
      "  {} trials {:.1f} us, {:.1f} GFLOP/s; {} trials reach {:.1f} % of it, mean of {} "
      "seeds\n",
      bench.options.long_trials, us[0], task.flops / us[0] / 1e3, bench.options.short_trials,
      100 * sum / static_cast<double>(us.size() - 1), us.size() - 1);
  std::fflush(stdout);
  return {};
}

Status run(const Options& options) {
  ATTUNE_ASSIGN(const ir::Target wanted, ir::parse_target(options.target));
  ATTUNE_ASSIGN(const ir::Target target, codegen::resolve_target(wanted));
  const measure::CorePlan cores = measure::plan_cores(target.threads);
  ATTUNE_ASSIGN(auto runner, measure::LocalRunner::start({.cores = cores.measure}));
  builder::LocalBuilder builder({.target = target, .cores = {}});
  for (const std::string& spec : options.specs) {
    ATTUNE_RETURN_IF_ERROR(run_spec({options, target, *runner, builder}, spec));
  }
  return {};
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  attune::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&](std::string_view name) -> const char* {
      return argument.starts_with(name) ? argv[i] + name.size() : nullptr;
    };
    const auto number = [](const char* text) { return static_cast<std::size_t>(std::atoll(text)); };
    if (const char* count = value("-long=")) {
      options.long_trials = number(count);
    } else if (const char* few = value("-short=")) {
      options.short_trials = number(few);
    } else if (const char* seeds = value("-seeds=")) {
      options.seeds = number(seeds);
    } else if (const char* explorer = value("-explorer=")) {
      options.explorer = explorer;
    } else if (const char* target = value("-target=")) {
      options.target = target;
    } else {
      options.specs.push_back(argument);
    }
  }
  if (options.specs.empty()) {
    options.specs = {"conv2d:h=56,w=56,ic=64,oc=64,kh=3,kw=3,stride=1,pad=1,algo=direct",
                     "conv2d:h=28,w=28,ic=128,oc=128,kh=3,kw=3,stride=1,pad=1,algo=direct",
                     "conv2d:h=14,w=14,ic=256,oc=256,kh=3,kw=3,stride=1,pad=1,algo=direct",
                     "conv2d:h=7,w=7,ic=512,oc=512,kh=3,kw=3,stride=1,pad=1,algo=direct"};
  }
  const attune::Status status = attune::run(options);
  if (!status.ok()) fmt::print(stderr, "bench_search: {}\n", status.error().message);
  return status.ok() ? 0 : 1;
}

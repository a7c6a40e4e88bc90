// What other jobs do to measurements: a fixed list of candidates of an operator is timed alone,
// then beside the host stages of others as the scheduler places them (on the other cores), then
// beside others that nobody coordinates (they compile wherever they like and measure on the same
// cores). In turns, several rounds; what is printed is by how much the times of the candidates
// grew: the median of the candidates and the worst, of each candidate's median over the rounds.
//
// usage: bench_interference [-candidates=N] [-rounds=N] [SPEC...]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "app/calibration/workload.h"
#include "app/verbs/jobs/scheduler.h"
#include "compiler/frontend/op_spec/op_spec.h"
#include "compiler/model/load/model.h"
#include "fleet/jobs/simulation/colocation_file.h"
#include "runtime/execution/affinity.h"
#include "tuner/measure/builder/local_builder.h"
#include "tuner/records/record_json.h"
#include "tuner/space/template_space.h"
#include "tuner/templates/templates.h"
#include "tuner/tunings/tunings.h"

namespace attune::bench {
namespace {

struct Options {
  std::size_t candidates = 12;
  int rounds = 5;
  std::vector<std::string> specs = {};
};

struct Condition {
  std::string name;
  std::vector<const calibration::LoopingChild*> others;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The first so many points of the space, in a fixed random order, that compile.
std::vector<measure::BuiltCandidate> build_list(const ir::Program& direct,
                                                const target::Target& target, std::size_t count) {
  const std::vector<space::NamedProgram> named{{"direct", direct}};
  const space::TemplateSpace space(named, templates::all(), target, space::Rejection::Hopeless);
  builder::LocalBuilder builder({.target = target, .cores = {}});
  const auto program = std::make_shared<const ir::Program>(direct);
  Rng rng(7);
  std::vector<measure::BuiltCandidate> list;
  for (std::size_t tries = 0; tries < 20 * count && list.size() < count; ++tries) {
    const space::Point point = space.sample(rng);
    if (!space.schedule_of(point).ok()) continue;
    const measure::BuildRequest request{
        .candidate = {.trace = space.trace_of(point), .number = std::ssize(list)},
        .program = program};
    auto built = builder.build({&request, 1});
    if (!built.front().failure) list.push_back(std::move(built.front()));
  }
  return list;
}

// Microseconds of each candidate, 0 where it failed.
Result<std::vector<double>> time_list(const std::vector<measure::BuiltCandidate>& list,
                                      measure::Runner& runner) {
  std::vector<measure::RunRequest> requests;
  for (const measure::BuiltCandidate& built : list) requests.push_back({&built, 0});
  measure::RunOptions options;
  options.close_ratio = options.long_close_ratio = 1e9;  // all are timed with the same care
  ATTUNE_ASSIGN(const auto results, runner.measure(requests, {}, options));
  std::vector<double> times;
  for (const measure::RunResult& result : results) {
    times.push_back(records::competing_time_us(result.outcome).value_or(0));
  }
  return times;
}

Status run_spec(const std::string& spec, const Options& options,
                const std::vector<Condition>& conditions, measure::Runner& runner, int threads) {
  ATTUNE_ASSIGN(const target::Target target, model::resolve_target({.threads = threads}));
  ATTUNE_ASSIGN(const op_spec::OpTask task, op_spec::parse_op_spec(spec, target));
  const std::vector<measure::BuiltCandidate> list =
      build_list(task.program, target, options.candidates);
  if (list.empty()) return unsupported(fmt::format("{} has no candidates", spec));
  // By condition and candidate, one time per round.
  std::vector<std::vector<std::vector<double>>> times(
      conditions.size(), std::vector<std::vector<double>>(list.size()));
  for (int round = 0; round < options.rounds; ++round) {
    for (std::size_t c = 0; c < conditions.size(); ++c) {
      for (const calibration::LoopingChild* other : conditions[c].others) other->go();
      const auto measured = time_list(list, runner);
      for (const calibration::LoopingChild* other : conditions[c].others) other->halt();
      if (!measured.ok()) return measured.error();
      for (std::size_t i = 0; i < list.size(); ++i) {
        if ((*measured)[i] > 0) times[c][i].push_back((*measured)[i]);
      }
    }
  }
  for (std::size_t c = 1; c < conditions.size(); ++c) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (times[0][i].empty() || times[c][i].empty()) continue;
      ratios.push_back(median(times[c][i]) / median(times[0][i]));
    }
    if (ratios.empty()) continue;
    const double worst = *std::max_element(ratios.begin(), ratios.end());
    fmt::print("{:<44} {:<12} {:>10} {:>+8.1f} % {:>+8.1f} %\n", spec, conditions[c].name,
               ratios.size(), 100 * (median(ratios) - 1), 100 * (worst - 1));
  }
  return {};
}

Status run(const Options& options) {
  const std::vector<int> allowed = runtime::allowed_cores();
  if (allowed.size() < 2) return unsupported("one core has no room for others");
  ATTUNE_ASSIGN(const verbs::CorePlan cores, verbs::plan_cores(allowed, {}, {}));
  const auto threads = static_cast<int>(cores.profile.size());
  // Children first, while this process has one thread.
  ATTUNE_ASSIGN(auto runner, tunings::tuning_of({}).start_runner({.cores = cores.profile}));
  const auto other = [](std::string_view name, const std::vector<int>& on) {
    return calibration::LoopingChild::start(std::string(name), on,
                                            calibration::workload_like(name, 1));
  };
  ATTUNE_ASSIGN(const calibration::LoopingChild building, other(jobs::kBuilding, cores.host));
  ATTUNE_ASSIGN(const calibration::LoopingChild learning, other(jobs::kLearning, cores.host));
  ATTUNE_ASSIGN(const calibration::LoopingChild building_anywhere, other(jobs::kBuilding, allowed));
  ATTUNE_ASSIGN(const calibration::LoopingChild measuring_too,
                other(jobs::kProfileCompute, {cores.profile.front()}));
  const std::vector<Condition> conditions{{"alone", {}},
                                          {"scheduled", {&building, &learning}},
                                          {"unscheduled", {&building_anywhere, &measuring_too}}};
  fmt::print("{:<44} {:<12} {:>10} {:>10} {:>10}\n", "operator", "others", "candidates", "median",
             "worst");
  for (const std::string& spec : options.specs) {
    ATTUNE_RETURN_IF_ERROR(run_spec(spec, options, conditions, *runner, threads));
  }
  return {};
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::bench::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("-candidates=")) {
      options.candidates = static_cast<std::size_t>(std::atoll(argv[i] + 12));
    } else if (argument.starts_with("-rounds=")) {
      options.rounds = std::atoi(argv[i] + 8);
    } else if (argument.starts_with("-")) {
      fmt::print(stderr, "usage: bench_interference [-candidates=N] [-rounds=N] [SPEC...]\n");
      return 2;
    } else {
      options.specs.push_back(argument);
    }
  }
  if (options.specs.empty()) {
    // Bound by arithmetic, and by the memory that weights are read from.
    options.specs = {"matmul:m=256,n=256,k=256",
                     "conv2d:h=28,w=28,ic=128,oc=128,kh=3,kw=3,pad=1,algo=direct",
                     "dense:m=1,n=8192,k=4096", "elementwise:m=4096,n=4096,op=relu"};
  }
  const attune::Status status = attune::bench::run(options);
  if (status.ok()) return 0;
  fmt::print(stderr, "bench_interference: {}\n", status.error().message);
  return 1;
}

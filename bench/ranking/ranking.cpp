// How well the analytic model ranks: random points of an operator's space are built and timed, and
// the order of the predicted times is compared with that of the measured ones. With -csv every
// point is printed; with -replay=FILE, such a print, its times are used instead of measuring, which
// shows what a change of the model does. With -all points are not rejected for being hopeless.
//
// usage: bench_ranking [-csv] [-all] [-points=N] [-skip=N] [-seed=N] [-target=TARGET]
//                      [-replay=FILE] SPEC
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <set>
#include <string>

#include "bench/algorithms.h"
#include "compiler/frontend/op_spec/op_spec.h"
#include "targets/kinds.h"
#include "tuner/cost_model/analytic.h"
#include "tuner/measure/builder/local_builder.h"
#include "tuner/space/template_space.h"
#include "tuner/templates/templates.h"
#include "tuner/tunings/tunings.h"

namespace attune {
namespace {

struct Options {
  std::string spec;
  std::size_t points = 200;
  std::size_t skip = 0;  // of the points in their random order
  std::uint64_t seed = 1;
  std::string target = "cpu -threads=1";
  bool csv = false, all = false;
  std::string replay;
};

struct Sample {
  space::Point point;
  double predicted_us = 0;
  double measured_us = 0;  // 0: failed
  std::string failure = {};
};

std::vector<Sample> draw(const space::Space& space, const cost_model::CostModel& model,
                         const Options& options) {
  std::vector<Sample> samples;
  std::set<std::uint64_t> drawn;
  Rng rng(options.seed);
  for (std::size_t tries = 0; tries < 200 * (options.skip + options.points); ++tries) {
    if (samples.size() == options.skip + options.points) break;
    const space::Point point = space.sample(rng);
    if (!drawn.insert(space.index_of(point)).second) continue;
    const auto scheduled = space.schedule_of(point);
    if (scheduled.ok()) samples.push_back({point, model.predict_us(*scheduled)});
  }
  const std::size_t skipped = std::min(options.skip, samples.size());
  samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(skipped));
  return samples;
}

// What was printed with -csv, predicted anew.
Result<std::vector<Sample>> replay(const space::Space& space, const cost_model::CostModel& model,
                                   const Options& options) {
  std::vector<Sample> samples;
  std::ifstream in(options.replay);
  for (std::string line; std::getline(in, line);) {
    const std::size_t config = line.find(": ");
    std::vector<std::size_t> commas;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == ',') commas.push_back(i);
    }
    if (config == std::string::npos || commas.size() < 4) continue;
    const std::string name = line.substr(commas[2] + 1, config - commas[2] - 1);
    const std::string knobs = line.substr(config + 2, commas[3] - config - 2);
    for (space::Point point : space.defaults()) {
      if (!space.to_string(point).starts_with(name + ":")) continue;
      ATTUNE_ASSIGN(point.choices, space::parse_config(space.knobs(point.alternative), knobs));
      const auto scheduled = space.schedule_of(point);
      if (!scheduled.ok()) continue;
      samples.push_back({point, model.predict_us(*scheduled),
                         std::strtod(line.c_str() + commas[1] + 1, nullptr),
                         line.substr(commas[3] + 1)});
    }
  }
  return samples;
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<double>(i);
  return rank;
}

// Spearman's coefficient.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto ra = ranks(a), rb = ranks(b);
  const double n = static_cast<double>(a.size());
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (ra[i] - rb[i]) * (ra[i] - rb[i]);
  return 1 - 6 * squares / (n * (n * n - 1));
}

Status time_all(std::vector<Sample>& samples, const space::Space& space,
                const std::vector<std::shared_ptr<const ir::Program>>& programs,
                const target::Target& target, measure::Runner& runner) {
  builder::LocalBuilder builder({.target = target, .cores = {}});
  constexpr std::size_t kBatch = 32;
  for (std::size_t first = 0; first < samples.size(); first += kBatch) {
    const std::size_t count = std::min(kBatch, samples.size() - first);
    std::vector<measure::BuildRequest> requests;
    for (std::size_t i = 0; i < count; ++i) {
      const space::Point& point = samples[first + i].point;
      requests.push_back(
          {.candidate = {.trace = space.trace_of(point), .number = std::ssize(requests)},
           .program = programs[point.alternative]});
    }
    const auto built = builder.build(requests);
    std::vector<measure::RunRequest> runs;
    std::vector<std::size_t> owners;
    for (std::size_t i = 0; i < count; ++i) {
      if (built[i].failure) {
        samples[first + i].failure = outcome::describe(*built[i].failure);
        continue;
      }
      runs.push_back({&built[i], 0});
      owners.push_back(first + i);
    }
    ATTUNE_ASSIGN(const auto results, runner.measure(runs, {}, {}));
    for (std::size_t i = 0; i < results.size(); ++i) {
      Sample& sample = samples[owners[i]];
      if (const auto* timing = std::get_if<outcome::Timing>(&results[i].outcome)) {
        sample.measured_us = timing->best_us;
      } else {
        sample.failure = outcome::describe(results[i].outcome);
      }
    }
  }
  return {};
}

void print(const std::vector<Sample>& samples, const space::Space& space, double flops,
           const Options& options) {
  std::vector<double> predicted, measured;
  for (const Sample& s : samples) {
    if (options.csv) {
      fmt::print("{},{:.2f},{:.2f},{},{}\n", space.index_of(s.point), s.predicted_us, s.measured_us,
                 space.to_string(s.point), s.failure);
    }
    if (s.measured_us == 0) continue;
    predicted.push_back(s.predicted_us);
    measured.push_back(s.measured_us);
  }
  if (measured.size() < 2) return;
  const double best = *std::min_element(measured.begin(), measured.end());
  const auto guess = static_cast<std::size_t>(std::min_element(predicted.begin(), predicted.end()) -
                                              predicted.begin());
  std::vector<std::size_t> order(predicted.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return predicted[a] < predicted[b]; });
  double best_of_16 = measured[order[0]];
  for (std::size_t i = 0; i < std::min<std::size_t>(16, order.size()); ++i) {
    best_of_16 = std::min(best_of_16, measured[order[i]]);
  }
  fmt::print(stderr,
             "{}: {} of {} points timed; rank correlation {:.3f}; best {:.1f} us, {:.1f} GFLOP/s; "
             "the first predicted reaches {:.1f} % of it, the best of 16 predicted {:.1f} %\n",
             options.spec, measured.size(), samples.size(), rank_correlation(predicted, measured),
             best, flops / best / 1e3, 100 * best / measured[guess], 100 * best / best_of_16);
}

Status run(const Options& options) {
  ATTUNE_ASSIGN(const target::Target wanted, targets::parse(options.target));
  ATTUNE_ASSIGN(const target::Target target, targets::resolve(wanted));
  const tuning::CorePlan cores = tunings::plan_cores(target);
  ATTUNE_ASSIGN(auto runner, tunings::tuning_of(target).start_runner(
                                 {.target = target, .cores = cores.measure}));
  ATTUNE_ASSIGN(const auto task, op_spec::parse_op_spec(options.spec, target));
  const std::vector<space::NamedProgram> named = algorithms_of(task);
  std::vector<std::shared_ptr<const ir::Program>> programs;
  for (const auto& n : named) programs.push_back(std::make_shared<const ir::Program>(n.program));
  const space::TemplateSpace space(
      named, templates::all(), target,
      options.all ? space::Rejection::Impossible : space::Rejection::Hopeless);
  if (space.alternatives() != named.size()) return unsupported("an algorithm has no template");
  const cost_model::AnalyticModel model(target);
  std::vector<Sample> samples;
  if (options.replay.empty()) {
    samples = draw(space, model, options);
    ATTUNE_RETURN_IF_ERROR(time_all(samples, space, programs, target, *runner));
  } else {
    ATTUNE_ASSIGN(samples, replay(space, model, options));
  }
  print(samples, space, task.flops, options);
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
    if (argument == "-csv") {
      options.csv = true;
    } else if (argument == "-all") {
      options.all = true;
    } else if (const char* file = value("-replay=")) {
      options.replay = file;
    } else if (const char* points = value("-points=")) {
      options.points = static_cast<std::size_t>(std::atoll(points));
    } else if (const char* skip = value("-skip=")) {
      options.skip = static_cast<std::size_t>(std::atoll(skip));
    } else if (const char* seed = value("-seed=")) {
      options.seed = static_cast<std::uint64_t>(std::atoll(seed));
    } else if (const char* target = value("-target=")) {
      options.target = target;
    } else {
      options.spec = argument;
    }
  }
  const attune::Status status = attune::run(options);
  if (!status.ok()) fmt::print(stderr, "bench_ranking: {}\n", status.error().message);
  return status.ok() ? 0 : 1;
}

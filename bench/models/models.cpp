// How well learners predict, replayed on recorded trials: after 16, 32, 64 and 128 examples drawn
// at random the share of pairs in the right order, how many of the ten fastest others are among the
// ten predicted fastest, and the time of the best of those ten over the best; how good the
// best is after 16 … 128 trials of a search among the recorded points; and what fitting and
// predicting cost.
//
// usage: bench_models [-learners=NAME,...] [-features=KIND] [-analytic=USE] [-acquisition=NAME]
//                     [-ensemble=N] [-seeds=N] [-history] [-tasks] [-only=TEXT] STORE
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <sstream>

#include "bench/models/table.h"

namespace attune::bench {
namespace {

struct Options {
  std::vector<std::string> learners;
  cost_model::LearnerOptions learner;
  std::size_t seeds = 3;
  bool history = false, tasks = false;
  std::string only, store;
};

constexpr std::size_t kExamples[] = {16, 32, 64, 128};
constexpr std::size_t kBatch = 16, kTop = 10;
constexpr double kNoise = 0.02;  // pairs that differ by less have no order

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Mean {
  double sum = 0, count = 0;
  void add(double value) { sum += value, count += 1; }
  double value() const { return count > 0 ? sum / count : 0; }
};

// One learner's figures at one number of examples.
struct Figures {
  Mean pairs, recall, ten, search, fit_ms;
};
struct Report {
  Figures at[std::size(kExamples)];
  Mean trials_to_98, score_us, acquire_us, make_ms, first_us;
};

std::vector<double> scores_of(const cost_model::Learner& learner,
                              const std::vector<space::Candidate>& points, bool acquire) {
  std::vector<cost_model::Query> queries;
  for (const auto& point : points) queries.push_back({&*point.point, point.predicted_us});
  std::vector<double> scores(points.size());
  acquire ? learner.acquire(queries, scores) : learner.score(queries, scores);
  return scores;
}

std::vector<std::size_t> order_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

double time_of(const space::Candidate& trial) { return trial.time_us.value_or(1e12); }

void add_prediction(Figures& figures, const std::vector<double>& scores,
                    const std::vector<space::Candidate>& points) {
  double right = 0, pairs = 0;
  std::vector<double> times;
  for (const auto& point : points) times.push_back(time_of(point));
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (std::abs(std::log(times[i] / times[j])) < kNoise) continue;
      right += (scores[i] > scores[j]) == (times[i] > times[j]) ? 1 : 0;
      pairs += 1;
    }
  }
  if (pairs == 0 || points.size() < 2 * kTop) return;
  figures.pairs.add(right / pairs);
  const auto predicted = order_of(scores), truth = order_of(times);
  double hits = 0, best = 1e12;
  for (std::size_t i = 0; i < kTop; ++i) {
    best = std::min(best, times[predicted[i]]);
    hits += times[predicted[i]] <= times[truth[kTop - 1]] ? 1 : 0;
  }
  figures.recall.add(hits / kTop);
  figures.ten.add(times[truth[0]] / best);
}

// Examples drawn at random, the others predicted.
void predict(cost_model::Learner& learner, const Table& table, std::uint64_t seed, Report& report) {
  auto shuffled = table.trials;
  Rng rng(seed);
  for (std::size_t i = shuffled.size(); i > 1; --i) {
    std::swap(shuffled[i - 1], shuffled[rng.below(i)]);
  }
  for (std::size_t e = 0; e < std::size(kExamples); ++e) {
    if (kExamples[e] + 2 * kTop > shuffled.size()) break;
    const auto middle = shuffled.begin() + static_cast<std::ptrdiff_t>(kExamples[e]);
    const std::vector<space::Candidate> seen(shuffled.begin(), middle),
        rest(middle, shuffled.end());
    const double before = seconds_now();
    learner.fit(seen);
    const double fitted = seconds_now();
    const auto scores = scores_of(learner, rest, false);
    if (e == 0) {
      report.first_us.add((seconds_now() - fitted) * 1e6 / static_cast<double>(rest.size()));
    }
    const double scored = seconds_now();
    scores_of(learner, rest, false);
    const double again = seconds_now();
    scores_of(learner, rest, true);
    const double acquired = seconds_now();
    report.at[e].fit_ms.add((fitted - before) * 1e3);
    report.score_us.add((again - scored) * 1e6 / static_cast<double>(rest.size()));
    report.acquire_us.add((acquired - again) * 1e6 / static_cast<double>(rest.size()));
    add_prediction(report.at[e], scores, rest);
  }
}

// A search that may propose recorded points only; the first of a batch of 16 are the defaults.
void search(cost_model::Learner& learner, const Table& table, std::uint64_t seed, Report& report) {
  std::vector<space::Candidate> left = table.trials, tried;
  const double goal = table.best_us();
  double best = 1e12;
  std::optional<std::size_t> reached;
  const auto try_point = [&](std::size_t i) {
    best = std::min(best, time_of(left[i]));
    tried.push_back(left[i]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
    if (!reached && goal / best >= 0.98) reached = tried.size();
  };
  for (const space::Point& point : table.space->defaults()) {
    const auto found = std::find_if(left.begin(), left.end(),
                                    [&](const auto& trial) { return trial.point == point; });
    if (found != left.end()) try_point(static_cast<std::size_t>(found - left.begin()));
  }
  Rng rng(seed);
  learner.fit({});
  for (std::size_t e = 0; e < std::size(kExamples); ++e) {
    while (tried.size() < kExamples[e] && !left.empty()) {
      if (tried.size() >= kBatch) learner.fit(tried);
      const auto order = order_of(scores_of(learner, left, true));
      const std::size_t goal_size = (tried.size() / kBatch + 1) * kBatch;
      std::vector<std::size_t> chosen(
          order.begin(), order.begin() + static_cast<std::ptrdiff_t>(
                                             std::min(goal_size - tried.size(), order.size())));
      chosen.back() = order[rng.below(order.size())];  // one at random
      std::sort(chosen.rbegin(), chosen.rend());
      chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
      for (std::size_t i : chosen) try_point(i);
    }
    report.at[e].search.add(goal / best);
  }
  report.trials_to_98.add(static_cast<double>(reached.value_or(table.trials.size())));
}

void print(const std::string& name, const Report& report) {
  fmt::print("{:28}", name);
  for (const Figures& f : report.at) {
    fmt::print(" | {:.3f} {:.2f} {:.3f} {:.3f} {:5.1f}", f.pairs.value(), f.recall.value(),
               f.ten.value(), f.search.value(), f.fit_ms.value());
  }
  fmt::print(
      " | 98 % after {:.1f}; made in {:.0f} ms, first {:.1f}, score {:.2f}, acquire {:.2f} us\n",
      report.trials_to_98.value(), report.make_ms.value(), report.first_us.value(),
      report.score_us.value(), report.acquire_us.value());
  std::fflush(stdout);
}

Status add_task(const Options& options, const std::vector<Table>& tables, const Table& table,
                const std::string& name, Report& report) {
  const cost_model::History history =
      options.history ? history_without(tables, table.key) : cost_model::History{};
  for (std::uint64_t seed = 0; seed < options.seeds; ++seed) {
    cost_model::LearnerOptions learner = options.learner;
    learner.name = name;
    learner.seed = seed;
    const double before = seconds_now();
    ATTUNE_ASSIGN(auto made, cost_model::make_learner(learner, *table.space,
                                                      options.history ? &history : nullptr));
    report.make_ms.add((seconds_now() - before) * 1e3);
    predict(*made, table, seed, report);
    search(*made, table, seed, report);
  }
  return {};
}

Status run(const Options& options) {
  ATTUNE_ASSIGN(auto tables, read_tables(options.store, 48));
  std::size_t trials = 0;
  for (const Table& table : tables) {
    trials += table.trials.size();
    if (options.tasks) {
      fmt::print("{}: {} trials, {} foreign, {} points\n", table.name, table.trials.size(),
                 table.foreign, table.space->size());
    }
  }
  fmt::print(
      "{} tasks, {} trials; after 16 | 32 | 64 | 128 examples: pairs in order, recall of the "
      "best ten, best of ten, best of a search, fit ms\n",
      tables.size(), trials);
  for (const std::string& name : options.learners) {
    Report whole;
    for (const Table& table : tables) {
      if (table.name.find(options.only) == std::string::npos) continue;
      Report one;
      ATTUNE_RETURN_IF_ERROR(add_task(options, tables, table, name, options.tasks ? one : whole));
      if (options.tasks) print(name + " " + table.name, one);
    }
    if (!options.tasks) print(name, whole);
  }
  return {};
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  using namespace attune;
  bench::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&](std::string_view name) -> const char* {
      return argument.starts_with(name) ? argv[i] + name.size() : nullptr;
    };
    if (const char* names = value("-learners=")) {
      std::istringstream list(names);
      for (std::string name; std::getline(list, name, ',');) options.learners.push_back(name);
    } else if (const char* kind = value("-features=")) {
      options.learner.features = kind;
    } else if (const char* use = value("-analytic=")) {
      options.learner.analytic = use;
    } else if (const char* acquisition = value("-acquisition=")) {
      options.learner.acquisition = acquisition;
    } else if (const char* ensemble = value("-ensemble=")) {
      options.learner.ensemble = std::atoi(ensemble);
    } else if (const char* seeds = value("-seeds=")) {
      options.seeds = static_cast<std::size_t>(std::atoi(seeds));
    } else if (const char* only = value("-only=")) {
      options.only = only;
    } else if (argument == "-history") {
      options.history = true;
    } else if (argument == "-tasks") {
      options.tasks = true;
    } else {
      options.store = argument;
    }
  }
  if (options.learners.empty()) {
    for (std::string_view name : cost_model::learner_names()) options.learners.emplace_back(name);
  }
  const Status status = bench::run(options);
  if (!status.ok()) fmt::print(stderr, "bench_models: {}\n", status.error().message);
  return status.ok() ? 0 : 1;
}

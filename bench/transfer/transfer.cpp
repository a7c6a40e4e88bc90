// What the history of other tasks is worth: every task of a records file is left out in turn, the
// global model is trained on the others, and asked to put the trials of that task in order. Printed
// are the rank correlation with the measured times and the best of the eight trials ranked first,
// relative to the best of all, each for the analytic model alone and with what was learnt.
//
// usage: bench_transfer RECORDS
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/execution/affinity.h"
#include "targets/kinds.h"
#include "tuner/cost_model/global_model.h"
#include "tuner/session/history.h"

namespace {

using namespace attune;
using Numbers = std::vector<double>;

constexpr std::size_t kTop = 8;

std::vector<std::size_t> order_of(const Numbers& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

Numbers ranks_of(const Numbers& values) {
  const std::vector<std::size_t> order = order_of(values);
  Numbers ranks(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<double>(i);
  return ranks;
}

double rank_correlation(const Numbers& a, const Numbers& b) {
  const Numbers x = ranks_of(a), y = ranks_of(b);
  const double middle = (static_cast<double>(x.size()) - 1) / 2;
  double product = 0, square = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    product += (x[i] - middle) * (y[i] - middle);
    square += (x[i] - middle) * (x[i] - middle);
  }
  return square > 0 ? product / square : 0;
}

// Speed of the best of the first, relative to the best of all.
double best_of_first(const Numbers& scores, const Numbers& log_ratios) {
  const std::vector<std::size_t> order = order_of(scores);
  double best = log_ratios[order[0]];
  for (std::size_t i = 1; i < std::min(kTop, order.size()); ++i) {
    best = std::min(best, log_ratios[order[i]]);
  }
  return std::exp(-best);
}

struct Quality {
  double correlation = 0, best = 0;
};

struct Comparison {
  Quality analytic, learnt;
};

Comparison compare(const cost_model::History& all, const cost_model::History::Group& left_out) {
  cost_model::History others;
  for (const auto& group : all.groups()) {
    if (group.task_key != left_out.task_key) others.add(group);
  }
  const auto global = cost_model::GlobalModel::train(others, left_out.width, 0);
  Numbers analytic, learnt, measured;
  for (std::size_t i = 0; i < left_out.log_ratio.size(); ++i) {
    const float* row = left_out.features.data() + i * left_out.width;
    analytic.push_back(left_out.analytic[i]);
    learnt.push_back(analytic.back() + (global ? global->correction(row) : 0));
    measured.push_back(left_out.log_ratio[i]);
  }
  return {{rank_correlation(analytic, measured), best_of_first(analytic, measured)},
          {rank_correlation(learnt, measured), best_of_first(learnt, measured)}};
}

Status run(const std::string& path) {
  ATTUNE_ASSIGN(const auto store, records::open_sqlite_store_for_reading(path));
  session::HistoryOptions options;
  options.resolve = targets::resolve;
  options.per_group = 1000;
  options.total = 100'000;
  options.threads = static_cast<int>(runtime::allowed_cores().size());
  ATTUNE_ASSIGN(const session::LoadedHistory loaded, session::load_history({store.get()}, options));
  fmt::print("{}\n{:50} {:>6}  {:>16}  {:>20}\n", session::describe(loaded), "task", "trials",
             "rank correlation", "best of the first 8");
  const auto& groups = loaded.history->groups();
  Comparison sum;
  for (const auto& group : groups) {
    const Comparison one = compare(*loaded.history, group);
    ATTUNE_ASSIGN(const auto definition, store->task(group.task_key));
    fmt::print("{:50.50} {:6}  {:7.3f} ->{:6.3f}  {:9.1f} % ->{:6.1f} %\n", definition->name,
               group.log_ratio.size(), one.analytic.correlation, one.learnt.correlation,
               100 * one.analytic.best, 100 * one.learnt.best);
    sum.analytic.correlation += one.analytic.correlation;
    sum.learnt.correlation += one.learnt.correlation;
    sum.analytic.best += one.analytic.best;
    sum.learnt.best += one.learnt.best;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, groups.size()));
  fmt::print("{:50} {:6}  {:7.3f} ->{:6.3f}  {:9.1f} % ->{:6.1f} %\n", "mean", "",
             sum.analytic.correlation / count, sum.learnt.correlation / count,
             100 * sum.analytic.best / count, 100 * sum.learnt.best / count);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: bench_transfer RECORDS\n");
    return 2;
  }
  const Status status = run(argv[1]);
  if (status.ok()) return 0;
  fmt::print(stderr, "bench_transfer: {}\n", status.error().message);
  return 1;
}

#include "tuner/cost_model/training_set.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tuner/cost_model/point_features.h"

namespace attune::cost_model {
namespace {

constexpr double kFailure = 0.7;  // log time above the slowest that ran

std::vector<Lesson> thin_out(const std::vector<Lesson>& all, std::size_t most) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return all[a].log_us < all[b].log_us; });
  const std::size_t fastest = most / 2, others = most - fastest;
  std::vector<std::size_t> kept(order.begin(),
                                order.begin() + static_cast<std::ptrdiff_t>(fastest));
  for (std::size_t i = 0; i < others; ++i) {
    kept.push_back(order[fastest + i * (order.size() - fastest) / others]);
  }
  std::sort(kept.begin(), kept.end());
  std::vector<Lesson> some;
  for (std::size_t i : kept) some.push_back(all[i]);
  return some;
}

}  // namespace

std::vector<Lesson> lessons_of(std::span<const space::Candidate> tried, std::size_t most) {
  double slowest = 0;
  for (const space::Candidate& candidate : tried) {
    if (candidate.time_us) slowest = std::max(slowest, *candidate.time_us);
  }
  if (slowest == 0) return {};
  const double failed = log_time(slowest) + kFailure;
  std::vector<Lesson> all;
  for (const space::Candidate& candidate : tried) {
    all.push_back({&candidate, candidate.time_us ? log_time(*candidate.time_us) : failed});
  }
  return all.size() > most ? thin_out(all, most) : all;
}

}  // namespace attune::cost_model

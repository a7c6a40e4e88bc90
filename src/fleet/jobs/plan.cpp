#include <algorithm>

#include "fleet/jobs/policy.h"

namespace attune::jobs {
namespace {

struct Ranked {
  Rank rank;
  std::size_t index;
};

// The order of a heap whose front is the least.
bool later(const Ranked& a, const Ranked& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.index > b.index;
}

bool disturbs(const StageView& stage, const View& view, const std::vector<std::size_t>& starting) {
  if (view.rules == nullptr || view.rules->empty()) return false;
  const auto clashes = [&](const StageView& other) {
    return !view.rules->allowed(stage.kind, other.kind);
  };
  return std::any_of(view.running.begin(), view.running.end(), clashes) ||
         std::any_of(starting.begin(), starting.end(),
                     [&](std::size_t i) { return clashes(view.ready[i]); });
}

}  // namespace

std::vector<std::size_t> plan(const View& view, const Policy& policy) {
  std::vector<int> free;
  int units = 0;
  for (const PoolView& pool : view.pools) {
    free.push_back(pool.free);
    units += std::max(pool.free, 0);
  }
  if (policy.coordinated && units == 0) return {};
  const auto fits = [&](const StageView& stage) {
    return !policy.coordinated || stage.amount <= free[stage.pool];
  };
  std::vector<Ranked> waiting;
  for (std::size_t i = 0; i < view.ready.size(); ++i) {
    if (!fits(view.ready[i])) continue;
    if (const auto rank = policy.rank(view, view.ready[i])) waiting.push_back({*rank, i});
  }
  std::make_heap(waiting.begin(), waiting.end(), later);
  std::vector<std::size_t> starting;
  while (!waiting.empty() && (units > 0 || !policy.coordinated)) {
    std::pop_heap(waiting.begin(), waiting.end(), later);
    const std::size_t index = waiting.back().index;
    waiting.pop_back();
    const StageView& stage = view.ready[index];
    if (!fits(stage) || disturbs(stage, view, starting)) continue;
    free[stage.pool] -= stage.amount;
    units -= stage.amount;
    starting.push_back(index);
  }
  return starting;
}

}  // namespace attune::jobs

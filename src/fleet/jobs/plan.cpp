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

// Where rules forbid pairs, a stage that clashes with what always runs would never start. After
// this long those that it clashes with are held back for it.
constexpr double kPatienceSeconds = 5;

// What the rules make a stage wait for.
class Neighbours {
 public:
  // `waiting`: those that could start, were it not for the rules.
  Neighbours(const View& view, const std::vector<Ranked>& waiting)
      : view_(view), any_(view.rules != nullptr && !view.rules->empty()) {
    if (!any_) return;
    for (const Ranked& ranked : waiting) {
      if (view.now - view.ready[ranked.index].ready_at > kPatienceSeconds) {
        overdue_.push_back(ranked.index);
      }
    }
  }

  bool disturbed_by(std::size_t index, const std::vector<std::size_t>& starting) const {
    if (!any_) return false;
    const StageView& stage = view_.ready[index];
    const auto clashes = [&](const StageView& other) {
      return !view_.rules->allowed(stage.group, other.group);
    };
    const auto clashes_at = [&](std::size_t other) { return clashes(view_.ready[other]); };
    return std::any_of(view_.running.begin(), view_.running.end(), clashes) ||
           std::any_of(starting.begin(), starting.end(), clashes_at) ||
           std::any_of(overdue_.begin(), overdue_.end(), [&](std::size_t other) {
             return waits_longer(view_.ready[other], stage) && clashes_at(other);
           });
  }

 private:
  static bool waits_longer(const StageView& a, const StageView& b) {
    return a.ready_at != b.ready_at ? a.ready_at < b.ready_at : a.id < b.id;
  }

  const View& view_;
  bool any_;
  std::vector<std::size_t> overdue_;
};

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
  const Neighbours neighbours(view, waiting);
  std::vector<std::size_t> starting;
  while (!waiting.empty() && (units > 0 || !policy.coordinated)) {
    std::pop_heap(waiting.begin(), waiting.end(), later);
    const std::size_t index = waiting.back().index;
    waiting.pop_back();
    const StageView& stage = view.ready[index];
    if (!fits(stage) || neighbours.disturbed_by(index, starting)) continue;
    free[stage.pool] -= stage.amount;
    units -= stage.amount;
    starting.push_back(index);
  }
  return starting;
}

}  // namespace attune::jobs

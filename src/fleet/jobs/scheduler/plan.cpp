#include <algorithm>

#include "fleet/jobs/scheduler/policy.h"

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

// A stage that clashes with what always runs, or that needs more units than come free at a time,
// would never start. After this long the others are held back for it.
constexpr double kPatienceSeconds = 5;

bool is_overdue(const View& view, const StageView& stage) {
  return view.now - stage.ready_at > kPatienceSeconds;
}

bool waits_longer(const StageView& a, const StageView& b) {
  return a.ready_at != b.ready_at ? a.ready_at < b.ready_at : a.id < b.id;
}

// What the rules make a stage wait for.
class Neighbours {
 public:
  // `waiting`: those that could start, were it not for the rules.
  Neighbours(const View& view, const std::vector<Ranked>& waiting)
      : view_(view), any_(view.rules != nullptr && !view.rules->empty()) {
    if (!any_) return;
    for (const Ranked& ranked : waiting) {
      if (is_overdue(view, view.ready[ranked.index])) overdue_.push_back(ranked.index);
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
  const View& view_;
  bool any_;
  std::vector<std::size_t> overdue_;
};

// What is free, and for whom it is kept.
class Supply {
 public:
  Supply(std::span<const PoolView> pools, bool limited) : limited_(limited) {
    for (const PoolView& pool : pools) {
      pools_.push_back({pool.free, nullptr});
      units_ += std::max(pool.free, 0);
    }
  }

  bool empty() const { return limited_ && units_ == 0; }
  bool suffices(const StageView& stage) const {
    return !limited_ || stage.amount <= pools_[stage.pool].free;
  }
  // For the one that waits longest; it needs several units.
  void keep_for(const StageView& stage) {
    const StageView*& kept = pools_[stage.pool].kept_for;
    if (kept == nullptr || waits_longer(stage, *kept)) kept = &stage;
  }
  bool may_have(const StageView& stage) const {
    const Left& pool = pools_[stage.pool];
    if (!suffices(stage)) return false;
    return !limited_ || pool.kept_for == nullptr || !waits_longer(*pool.kept_for, stage) ||
           stage.amount + pool.kept_for->amount <= pool.free;
  }
  void take(const StageView& stage) {
    Left& pool = pools_[stage.pool];
    if (pool.kept_for == &stage) pool.kept_for = nullptr;
    pool.free -= stage.amount;
    units_ -= stage.amount;
  }

 private:
  struct Left {
    int free = 0;
    const StageView* kept_for = nullptr;
  };
  bool limited_;
  int units_ = 0;
  std::vector<Left> pools_;
};

}  // namespace

std::vector<std::size_t> plan(const View& seen, const Policy& policy) {
  Supply supply(seen.pools, policy.coordinated);
  if (supply.empty()) return {};
  // What starts here counts at once, also against the quota of its user.
  std::vector<UserView> users(seen.users.begin(), seen.users.end());
  View view = seen;
  view.users = users;
  std::vector<Ranked> waiting;
  for (std::size_t i = 0; i < view.ready.size(); ++i) {
    const StageView& stage = view.ready[i];
    const bool keeps = stage.amount > 1 && is_overdue(view, stage);
    const bool fits = supply.suffices(stage);
    if (!fits && !keeps) continue;
    const auto rank = policy.rank(view, stage);
    if (!rank) continue;
    if (fits) waiting.push_back({*rank, i});
    if (keeps) supply.keep_for(stage);
  }
  std::make_heap(waiting.begin(), waiting.end(), later);
  const Neighbours neighbours(view, waiting);
  std::vector<std::size_t> starting;
  while (!waiting.empty() && !supply.empty()) {
    std::pop_heap(waiting.begin(), waiting.end(), later);
    const Ranked next = waiting.back();
    waiting.pop_back();
    const StageView& stage = view.ready[next.index];
    if (!supply.may_have(stage) || neighbours.disturbed_by(next.index, starting)) continue;
    UserView& user = users[view.jobs[stage.job].user];
    if (const Rank rank = user.quota > 0 ? *policy.rank(view, stage) : next.rank;
        rank > next.rank) {
      waiting.push_back({rank, next.index});
      std::push_heap(waiting.begin(), waiting.end(), later);
      continue;
    }
    supply.take(stage);
    user.running += stage.amount;
    starting.push_back(next.index);
  }
  return starting;
}

}  // namespace attune::jobs

#include "fleet/jobs/scheduler/scheduler.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace attune::jobs {

Scheduler::Scheduler(const std::vector<Pool>& pools, const Policy& policy, CoLocation rules,
                     std::vector<int> user_quotas)
    : policy_(policy), rules_(std::move(rules)) {
  for (const Pool& pool : pools) {
    pools_.push_back({.capacity = pool.capacity, .free = pool.capacity});
    units_.emplace_back(static_cast<std::size_t>(pool.capacity));
  }
  for (const int quota : user_quotas) users_.push_back({.quota = quota});
}

JobIndex Scheduler::add_job(JobSpec spec, double now) {
  if (free_.empty()) {
    free_.push_back(static_cast<JobIndex>(jobs_.size()));
    jobs_.emplace_back();
    details_.push_back({Predictor({})});
  }
  const JobIndex index = free_.back();
  free_.pop_back();
  if (spec.user >= users_.size()) users_.resize(spec.user + 1);
  ++users_[spec.user].jobs;
  jobs_[index] = {.user = spec.user,
                  .priority = spec.priority,
                  .submitted_at = now,
                  .attained_seconds = spec.attained_seconds};
  details_[index] = {Predictor(std::move(spec.usual_seconds)), std::move(spec.stages_left),
                     std::move(spec.needs), spec.prefetch};
  active_jobs_.emplace(now, index);
  predict_remaining(index);
  return index;
}

void Scheduler::remove_job(JobIndex job) {
  withdraw(job);
  set_active(job, false);
  for (std::uint32_t pool = 0; pool < units_.size(); ++pool) {
    for (Unit& unit : units_[pool]) {
      if (unit.holder == job) unit.holder = kNoJob;
    }
    find_holders(pool);
  }
  jobs_[job] = {.active = false};
  details_[job] = {Predictor({})};
  free_.push_back(job);
}

StageId Scheduler::offer(const Offer& offer, double now) {
  CHECK(offer.amount <= pools_[offer.pool].capacity, "a stage asks for more than its pool has");
  const Job& job = details_[offer.job];
  ready_.push_back({.id = next_stage_++,
                    .job = offer.job,
                    .kind = offer.kind,
                    .pool = offer.pool,
                    .amount = offer.amount,
                    .predicted_seconds = job.predictor.seconds(offer.kind),
                    .ready_at = now,
                    .continues = job.last_finished == now && job.last_pool == offer.pool,
                    .group = offer.group});
  return ready_.back().id;
}

std::vector<Start> Scheduler::dispatch(double now) {
  std::vector<std::size_t> chosen = plan(view(now), policy_);
  std::vector<Start> starts;
  for (const std::size_t index : chosen) {
    const StageView& stage = ready_[index];
    begin(stage, take_slots(stage));
    starts.push_back({stage.id, stage.job, stage.kind, stage.pool, taken_.back().slots.front()});
  }
  // From the back, so that what is still to be removed stays where it is.
  std::sort(chosen.begin(), chosen.end(), std::greater<>());
  for (const std::size_t index : chosen) {
    ready_[index] = ready_.back();
    ready_.pop_back();
  }
  return starts;
}

void Scheduler::begin(const StageView& stage, std::vector<int> slots) {
  for (const int slot : slots) {
    units_[stage.pool][static_cast<std::size_t>(slot)] = {true, stage.job};
  }
  taken_.push_back({std::move(slots)});
  pools_[stage.pool].free -= stage.amount;
  find_holders(stage.pool);
  users_[jobs_[stage.job].user].running += stage.amount;
  running_.push_back(stage);
}

StageId Scheduler::take_up(const Offer& offered, std::vector<int> slots, double ready_at) {
  const StageId id = offer(offered, ready_at);
  const StageView stage = ready_.back();
  ready_.pop_back();
  std::vector<Unit>& units = units_[stage.pool];
  for (const int slot : slots) {
    const auto unit = static_cast<std::size_t>(slot);
    if (unit >= units.size()) units.resize(unit + 1);
    CHECK(!units[unit].taken, "two stages that ran had the same unit");
  }
  begin(stage, std::move(slots));
  return id;
}

void Scheduler::finish(StageId stage, double now, double seconds) {
  const std::size_t position = position_of(stage);
  const StageView done = running_[position];
  release(position);
  Job& job = details_[done.job];
  job.predictor.observe(done.kind, seconds);
  job.last_pool = done.pool;
  job.last_finished = now;
  if (!job.stages_left.empty()) {
    double& left = job.stages_left[done.kind];
    left = std::max(0.0, left - 1);
  }
  jobs_[done.job].attained_seconds += seconds;
  predict_remaining(done.job);
}

void Scheduler::abandon(StageId stage) { release(position_of(stage)); }

void Scheduler::withdraw(JobIndex job) {
  std::erase_if(ready_, [&](const StageView& stage) { return stage.job == job; });
}

void Scheduler::withdraw_stage(StageId stage) {
  std::erase_if(ready_, [&](const StageView& view) { return view.id == stage; });
}

void Scheduler::set_active(JobIndex job, bool active) {
  JobView& view = jobs_[job];
  if (view.active != active) {
    count_work(view, active ? 1 : -1);
    users_[view.user].jobs += active ? 1 : -1;
    if (active) {
      active_jobs_.emplace(view.submitted_at, job);
    } else {
      active_jobs_.erase({view.submitted_at, job});
    }
  }
  view.active = active;
}

void Scheduler::set_stages_left(JobIndex job, std::vector<double> stages_left) {
  details_[job].stages_left = std::move(stages_left);
  predict_remaining(job);
}

void Scheduler::set_kinds(JobIndex job, std::vector<double> usual_seconds,
                          std::vector<Need> needs) {
  details_[job].predictor = Predictor(std::move(usual_seconds));
  details_[job].stages_left.clear();
  details_[job].needs = std::move(needs);
  predict_remaining(job);
}

void Scheduler::set_usual_seconds(JobIndex job, std::uint32_t kind, double seconds) {
  details_[job].predictor.set_usual_seconds(kind, seconds);
  predict_remaining(job);
}

const std::vector<int>& Scheduler::slots_of(StageId stage) const {
  return taken_[position_of(stage)].slots;
}

View Scheduler::view(double now) const {
  const JobIndex oldest = active_jobs_.empty() ? kNoJob : active_jobs_.begin()->second;
  return {now, pools_, jobs_, users_, ready_, running_, oldest, busiest(), &rules_};
}

std::size_t Scheduler::position_of(StageId stage) const {
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [&](const StageView& view) { return view.id == stage; });
  CHECK(found != running_.end(), "the stage is not running");
  return static_cast<std::size_t>(found - running_.begin());
}

void Scheduler::release(std::size_t position) {
  const StageView& stage = running_[position];
  pools_[stage.pool].free += stage.amount;
  users_[jobs_[stage.job].user].running -= stage.amount;
  for (const int slot : taken_[position].slots) {
    units_[stage.pool][static_cast<std::size_t>(slot)].taken = false;
  }
  find_holders(stage.pool);
  running_[position] = running_.back();
  running_.pop_back();
  taken_[position] = std::move(taken_.back());
  taken_.pop_back();
}

// Those that the job had last, so that others keep theirs, then such as nobody had, then the first
// that are free. Policies that do not coordinate go beyond the capacity.
std::vector<int> Scheduler::take_slots(const StageView& stage) {
  std::vector<Unit>& units = units_[stage.pool];
  std::vector<int> slots;
  const auto take = [&](auto suits) {
    for (std::size_t i = 0; i < units.size() && int(slots.size()) < stage.amount; ++i) {
      if (units[i].taken || !suits(units[i])) continue;
      units[i].taken = true;
      slots.push_back(static_cast<int>(i));
    }
  };
  take([&](const Unit& unit) { return unit.holder == stage.job; });
  take([](const Unit& unit) { return unit.holder == kNoJob; });
  take([](const Unit&) { return true; });
  for (; int(slots.size()) < stage.amount; units.push_back({.taken = true})) {
    slots.push_back(static_cast<int>(units.size()));
  }
  std::sort(slots.begin(), slots.end());
  return slots;
}

void Scheduler::find_holders(std::uint32_t pool) {
  std::vector<JobIndex>& holders = pools_[pool].holders;
  holders.clear();
  for (const Unit& unit : units_[pool]) {
    if (unit.holder == kNoJob || (unit.taken && pools_[pool].free > 0)) continue;
    holders.push_back(unit.holder);
  }
}

void Scheduler::predict_remaining(JobIndex index) {
  const Job& job = details_[index];
  JobView& view = jobs_[index];
  if (view.active) count_work(view, -1);
  view.remaining_seconds = job.stages_left.empty() ? -1 : path_seconds(job);
  view.work_left = work_left(job);
  if (view.active) count_work(view, 1);
}

// Stages of one kind follow each other. As many batches as are in flight go side by side, but what
// comes once, at the beginning or at the end, has nothing beside it.
double Scheduler::path_seconds(const Job& job) const {
  double batches_in_turn = 0, once_each = 0, longest = 0;
  for (std::uint32_t kind = 0; kind < job.stages_left.size(); ++kind) {
    const double left = job.stages_left[kind], seconds = job.predictor.seconds(kind);
    const double once = std::min(left, 1.0) * seconds;
    batches_in_turn += std::max(left / job.prefetch * seconds, once);
    once_each += once;
    longest = std::max(longest, left * seconds - once);
  }
  return std::max(batches_in_turn, once_each + longest);
}

std::vector<double> Scheduler::work_left(const Job& job) const {
  if (job.stages_left.empty() || job.needs.empty()) return {};
  std::vector<double> work(pools_.size(), 0.0);
  for (std::uint32_t kind = 0; kind < job.stages_left.size(); ++kind) {
    const Need& need = job.needs[kind];
    work[need.pool] += need.amount * job.stages_left[kind] * job.predictor.seconds(kind);
  }
  return work;
}

void Scheduler::count_work(const JobView& job, double sign) {
  for (std::size_t i = 0; i < job.work_left.size(); ++i) {
    pools_[i].work_left += sign * job.work_left[i];
  }
}

std::uint32_t Scheduler::busiest() const {
  const auto most =
      std::max_element(pools_.begin(), pools_.end(), [](const PoolView& a, const PoolView& b) {
        return a.work_left * b.capacity < b.work_left * a.capacity;
      });
  return static_cast<std::uint32_t>(most - pools_.begin());
}

}  // namespace attune::jobs

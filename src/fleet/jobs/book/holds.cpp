// Jobs of workers elsewhere, which may outlive a connection and the scheduler: what they hold stays
// theirs until they come back or their lease is over.
#include <fmt/format.h>

#include <algorithm>

#include "fleet/jobs/book/book.h"
#include "fleet/jobs/book/checks.h"

namespace attune::jobs {

// Offers that nobody would hear of are withdrawn; the worker makes them again.
void Book::hold(Entry& entry, double until) {
  entry.worker = 0;
  entry.held_until = until;
  thinking_.erase(entry.position);
  scheduler_.withdraw(entry.index);
  scheduler_.set_active(entry.index, false);
  std::erase_if(entry.stages, [&](const auto& each) {
    if (!each.second.runs) places_.erase(each.second.id);
    return !each.second.runs;
  });
  touch(entry);
}

// As the book before this one left it. A stage whose pool is not there any more cannot be held.
void Book::restore(Entry& entry, double now) {
  entry.held_until = now + options_.lease_seconds;
  const v1::Job& job = entry.row.job;
  entry.secret = job.hold().secret();
  v1::Kinds kinds;
  *kinds.mutable_kinds() = job.kinds();
  const auto is_there = [&](const v1::StageKind& kind) { return pool_of(kind.pool()).has_value(); };
  if (!std::all_of(job.kinds().begin(), job.kinds().end(), is_there)) return;
  if (!check_kinds(job.kinds()).ok()) return;
  take_kinds(entry, kinds, now);
  for (const v1::HeldStage& held : job.hold().stages()) {
    const v1::StageKind& kind = job.kinds(held.kind());
    const std::uint32_t pool = *pool_of(kind.pool());
    const auto capacity = static_cast<int>(options_.pools[pool].units.size());
    const std::vector<int> slots(held.slots().begin(), held.slots().end());
    const auto fits = [&](int slot) { return slot < capacity; };
    const bool coordinated = options_.policy->coordinated;
    if (coordinated && !std::all_of(slots.begin(), slots.end(), fits)) continue;
    if (static_cast<int>(slots.size()) > capacity) continue;
    Stage& stage = entry.stages[held.stage()];
    const auto stage_kind = static_cast<std::uint32_t>(held.kind());
    stage = {.kind = stage_kind,
             .ready_at = held.ready_at(),
             .runs = true,
             .started_at = held.started_at(),
             .heard_at = now,
             .limit_seconds =
                 options_.limits.seconds_for(scheduler_.predicted_seconds(entry.index, stage_kind)),
             .ends_at = now + longest_stage(entry)};
    stage.id = scheduler_.take_up({.job = entry.index,
                                   .kind = stage.kind,
                                   .pool = pool,
                                   .amount = static_cast<int>(slots.size()),
                                   .group = group_of(entry, kind, pool)},
                                  slots, held.ready_at());
    places_[stage.id] = {entry.position, held.stage()};
  }
}

// Whether the job is this worker's: it says the secret of the one that got it, over a connection of
// the user who may have it.
bool Book::is_holder(const Pass& pass, const v1::Hello& hello, const v1::Holding& holding) const {
  const auto found = by_id_.find(holding.job());
  if (found == by_id_.end()) return false;
  const Entry& entry = entries_[found->second];
  const std::uint32_t uid = entry.row.foreign ? entry.row.job.uid() : options_.uid;
  return pass.caller.uid == uid && !entry.secret.empty() && hello.secret() == entry.secret;
}

// A worker that comes back goes on with what is still its own, in the same epoch.
void Book::go_on(WorkerId id, const v1::Holding& holding) {
  const auto found = by_id_.find(holding.job());
  const std::string& job = holding.job();
  if (found == by_id_.end()) {
    return refuse(id, job, holding.epoch(), 0, fmt::format("there is no job '{}'", job));
  }
  Entry& entry = entries_[found->second];
  // Its last connection may be broken without the book having heard of it.
  const auto last = workers_.find(entry.worker);
  const bool elsewhere = last != workers_.end() && !last->second.pass.local;
  const bool same_epoch = entry.row.job.epoch() == holding.epoch();
  if (entry.ended() && same_epoch) return;  // which it will say, and then hear that it is known
  if (!same_epoch || (entry.held_until < 0 && !elsewhere)) {
    return refuse(id, job, holding.epoch(), 0, "the worker was away for too long");
  }
  if (elsewhere) {
    std::erase(last->second.jobs, found->second);
    hold(entry, 0);
  }
  entry.held_until = -1;
  entry.worker = id;
  entry.row.job.set_worker(workers_.at(id).name);
  workers_.at(id).jobs.push_back(found->second);
  for (auto& [number, stage] : entry.stages) stage.heard_at = workers_.at(id).heard_at;
  scheduler_.set_active(entry.index, !entry.paused);
  touch(entry);
  if (entry.row.wish) order(entry);
}

// What is to be found by the next book.
void Book::write_hold(Entry& entry) const {
  v1::Job& job = entry.row.job;
  job.clear_hold();
  const auto worker = workers_.find(entry.worker);
  const bool elsewhere = worker != workers_.end() && !worker->second.pass.local;
  if (entry.ended() || (entry.held_until < 0 && !elsewhere)) return;
  v1::Hold& hold = *job.mutable_hold();
  hold.set_secret(entry.secret);
  for (const auto& [number, stage] : entry.stages) {
    if (!stage.runs) continue;
    v1::HeldStage& held = *hold.add_stages();
    held.set_stage(number);
    held.set_kind(static_cast<int>(stage.kind));
    for (const int slot : scheduler_.slots_of(stage.id)) held.add_slots(slot);
    held.set_ready_at(stage.ready_at);
    held.set_started_at(stage.started_at);
  }
}

}  // namespace attune::jobs

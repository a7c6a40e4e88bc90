// How long a stage may be silent. A worker's beats say that the worker lives, not that its stage
// does: one of which nothing is heard for too long is ended with its worker, and its job is tried
// again. One of another user is ended when it has had its time, whatever is heard of it.
#include <algorithm>
#include <limits>

#include "fleet/jobs/book/book.h"

namespace attune::jobs {

void Book::take_alive(Entry& entry, const v1::Alive& alive, double now) {
  const auto found = entry.stages.find(alive.stage());
  if (found != entry.stages.end()) found->second.heard_at = now;
}

// Of a job that waits for its worker to come back, the lease says for how long.
void Book::end_silent_stages(double now) {
  std::vector<Place> silent;
  for (const StageView& running : scheduler_.view(now).running) {
    const Place place = places_.at(running.id);
    const Entry& entry = entries_[place.entry];
    if (entry.worker != 0 && now >= deadline_of(entry.stages.at(place.stage))) {
      silent.push_back(place);
    }
  }
  for (const Place& place : silent) {
    if (entries_[place.entry].worker != 0) end_silent_stage(place, now);
  }
}

// A worker elsewhere is told, and cannot be ended from here: what its stage runs on is kept for the
// length of a lease, as it is when a connection breaks.
void Book::end_silent_stage(const Place& place, double now) {
  Entry& entry = entries_[place.entry];
  v1::Job& job = entry.row.job;
  const Stage stage = entry.stages.at(place.stage);
  const std::string& kind = job.kinds(static_cast<int>(stage.kind)).name();
  if (now >= stage.ends_at) {
    count_too_long(*job.mutable_strikes(), kind, longest_stage(entry));
  } else {
    count_stuck(*job.mutable_strikes(), kind, now - stage.heard_at);
  }
  say_strike(entry);
  const WorkerId id = entry.worker;
  const Worker worker = std::move(workers_.at(id));
  workers_.erase(id);
  refuse(id, entry.id(), job.epoch(), place.stage, job.strikes().last());
  effects_.close.push_back(id);
  if (worker.pass.local) return part_with(id, worker, false, now);
  for (const std::size_t position : worker.jobs) {
    if (position != place.entry) take_back(entries_[position], now);
  }
  entry.secret.clear();  // it cannot come back
  hold(entry, now + options_.lease_seconds);
  job.set_reason(job.strikes().last());
}

void Book::stood_still(double seconds) {
  for (auto& [id, worker] : workers_) worker.heard_at += seconds;
  for (const std::size_t position : held_) entries_[position].held_until += seconds;
  for (const StageView& running : scheduler_.view(0).running) {
    const Place place = places_.at(running.id);
    Stage& stage = entries_[place.entry].stages.at(place.stage);
    stage.heard_at += seconds;
    stage.ends_at += seconds;
  }
}

double Book::next_stage_deadline() const {
  double deadline = std::numeric_limits<double>::infinity();
  for (const StageView& running : scheduler_.view(0).running) {
    const Place place = places_.at(running.id);
    const Entry& entry = entries_[place.entry];
    if (entry.worker == 0) continue;
    deadline = std::min(deadline, deadline_of(entry.stages.at(place.stage)));
  }
  return deadline;
}

}  // namespace attune::jobs

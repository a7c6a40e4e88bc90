// Workers that leave, fall silent or die, and what becomes of their jobs. A local worker is gone
// when its connection and its process have both ended: what it said last has been heard then, and
// nothing of it runs any more. Until then its jobs wait, and the units that their stages ran on
// stay taken, even if the process cannot be ended; all else goes on.
#include <fmt/format.h>

#include "fleet/jobs/book/book.h"

namespace attune::jobs {

// Elsewhere a worker may go on although its connection is gone: until its lease is over it can come
// back, and nobody else gets what it has.
void Book::left(WorkerId id, double now) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  const Worker worker = std::move(found->second);
  workers_.erase(found);
  if (worker.pass.local) return part_with(id, worker, true, now);
  for (const std::size_t position : worker.jobs) {
    hold(entries_[position], worker.heard_at + options_.lease_seconds);
  }
}

// It was silent for too long.
void Book::lose(WorkerId id, double now) {
  const auto found = workers_.find(id);
  const Worker worker = std::move(found->second);
  workers_.erase(found);
  refuse(id, "", 0, 0, "the worker was silent for too long and has lost its jobs");
  effects_.close.push_back(id);
  if (worker.pass.local) return part_with(id, worker, false, now);
  for (const std::size_t position : worker.jobs) take_back(entries_[position], now);
}

void Book::part_with(WorkerId id, const Worker& worker, bool by_itself, double now) {
  for (const std::size_t position : worker.jobs) {
    entries_[position].leaving = id;
    hold(entries_[position], -1);
  }
  leaving_[id] = {worker.jobs, by_itself};
  if (worker.death) return process_ended(id, *worker.death, now);
  effects_.kill.push_back(id);
}

void Book::process_ended(WorkerId id, const WorkerDeath& death, double now) {
  if (const auto known = workers_.find(id); known != workers_.end()) {
    known->second.death = death;  // what it said before is still to be heard
    return;
  }
  const auto found = leaving_.find(id);
  if (found == leaving_.end()) return;
  const Leaving leaving = std::move(found->second);
  leaving_.erase(found);
  for (const std::size_t position : leaving.jobs) {
    Entry& entry = entries_[position];
    entry.leaving = 0;
    const bool counts = leaving.by_itself && !entry.row.foreign;
    if (counts && count_death(*entry.row.job.mutable_strikes(), death)) say_strike(entry);
    take_back(entry, now);
  }
}

void Book::say_strike(const Entry& entry) {
  const v1::Job& job = entry.row.job;
  const Tries tries = tries_of(job.strikes(), options_.limits);
  effects_.notes.push_back(fmt::format("job {} ({}): {}, try {} of {}", job.id(), job.spec().name(),
                                       job.strikes().last(), tries.done, tries.most));
}

void Book::take_back(Entry& entry, double now) {
  v1::Job& job = entry.row.job;
  entry.worker = 0;
  entry.held_until = -1;
  job.clear_worker();
  job.clear_reason();
  drop_stages(entry);
  scheduler_.set_active(entry.index, false);
  touch(entry);
  if (entry.row.wish == v1::CANCEL) return end(entry, v1::CANCELLED, "", now);
  if (entry.row.foreign) {
    const bool stuck = job.strikes().stuck() > 0;
    return end(entry, v1::FAILED, stuck ? job.strikes().last() : "its tuner went away", now);
  }
  const std::optional<std::string> why = why_given_up(job.strikes(), options_.limits);
  if (why) end(entry, v1::FAILED, *why, now);
}

}  // namespace attune::jobs

// Workers of the book: who they are, which jobs they have, and what happens when one is lost.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "fleet/jobs/book/book.h"
#include "fleet/jobs/book/checks.h"

namespace attune::jobs {

v1::ToWorker& Book::send(WorkerId worker, bool acknowledges) {
  effects_.messages.push_back({.worker = worker, .acknowledges = acknowledges});
  return effects_.messages.back().what;
}

void Book::refuse(WorkerId worker, const std::string& job, std::int64_t epoch, std::int64_t stage,
                  const std::string& why) {
  v1::Refused& refused = *send(worker, false).mutable_refused();
  refused.set_job(job);
  refused.set_epoch(epoch);
  refused.set_stage(stage);
  refused.set_why(why);
}

void Book::know(WorkerId worker, const Entry& entry, std::int64_t stage) {
  v1::Known& known = *send(worker, true).mutable_known();
  known.set_job(entry.id());
  known.set_epoch(entry.row.job.epoch());
  known.set_stage(stage);
}

void Book::order(const Entry& entry) {
  v1::Order& order = *send(entry.worker, true).mutable_order();
  order.set_job(entry.id());
  order.set_epoch(entry.row.job.epoch());
  order.set_wish(*entry.row.wish);
}

// The job that the worker speaks of, when it has it in this epoch; else the worker is told so.
Book::Entry* Book::fenced(WorkerId worker, const std::string& job, std::int64_t epoch,
                          std::int64_t stage) {
  const auto found = by_id_.find(job);
  if (found == by_id_.end()) {
    refuse(worker, job, epoch, stage, fmt::format("there is no job '{}'", job));
    return nullptr;
  }
  Entry& entry = entries_[found->second];
  const std::int64_t now_at = entry.row.job.epoch();
  if (epoch != now_at) {
    refuse(worker, job, epoch, stage,
           fmt::format("epoch {} of the job is over, it is at {}", epoch, now_at));
    return nullptr;
  }
  if (entry.worker != worker) {
    // A repeated end of a job is as well known as the first.
    if (entry.ended() && stage == -1) {
      know(worker, entry, stage);
    } else {
      refuse(worker, job, epoch, stage,
             entry.ended() ? "the job has ended" : "another worker has the job");
    }
    return nullptr;
  }
  return &entry;
}

void Book::joined(WorkerId worker, const Pass& pass, double now) {
  CHECK(worker != 0 && workers_.count(worker) == 0, "a connection joins once");
  workers_[worker] = {.pass = pass, .heard_at = now};
}

void Book::send_away(WorkerId id, const std::string& why) {
  refuse(id, "", 0, 0, why);
  effects_.close.push_back(id);
  workers_.erase(id);
}

// By its token; who comes back has used that up, and is known by a job that it still has.
std::optional<Standing> Book::standing_of_worker(const Pass& pass, const v1::Hello& hello) const {
  if (pass.by_token) return pass.by_token;
  for (const v1::Holding& holding : hello.holds()) {
    if (!is_holder(pass, hello, holding)) continue;
    return entries_[by_id_.at(holding.job())].row.foreign ? Standing::Tuner : Standing::Worker;
  }
  return std::nullopt;
}

void Book::hello(WorkerId id, const v1::Hello& hello) {
  Worker& worker = workers_.at(id);
  if (!worker.name.empty()) return refuse(id, "", 0, 0, "hello was said already");
  if (hello.version() != options_.version) {
    return send_away(id, fmt::format("the worker is of version {}, the scheduler of {}",
                                     hello.version(), options_.version));
  }
  if (const Status good = check_hello(hello); !good.ok()) {
    return send_away(id, good.error().message);
  }
  const std::optional<Standing> standing = standing_of_worker(worker.pass, hello);
  if (!standing) {
    return send_away(id, hello.holds().empty()
                             ? "the worker has no token that is good; 'attune scheduler token' "
                               "gives out one"
                             : "the worker was away for too long");
  }
  if (hello.takes_jobs() && !may(*standing, Right::TakeJobs)) {
    return send_away(id, "the token is a tuner's, which is given no jobs of others");
  }
  worker.standing = *standing;
  const std::string base = hello.name().empty() ? "worker" : hello.name();
  std::set<std::string> taken;
  for (const auto& [other, each] : workers_) {
    if (other != id) taken.insert(each.name);
  }
  worker.hello = hello;
  worker.name = base;
  for (int i = 2; taken.count(worker.name) != 0; ++i) worker.name = fmt::format("{}-{}", base, i);
  v1::Welcome& welcome = *send(id, false).mutable_welcome();
  welcome.set_worker(worker.name);
  welcome.set_beat_seconds(options_.beat_seconds);
  welcome.set_lease_seconds(options_.lease_seconds);
  for (const v1::Holding& holding : hello.holds()) {
    const bool known = by_id_.count(holding.job()) != 0;
    if (known && !is_holder(worker.pass, hello, holding)) {
      refuse(id, holding.job(), holding.epoch(), 0, "another worker has the job");
    } else {
      go_on(id, holding);
    }
  }
}

void Book::take_end(WorkerId id, const v1::Ended& ended, double now) {
  Entry* entry = fenced(id, ended.job(), ended.epoch(), -1);
  if (entry == nullptr) return;
  if (ended.state() == v1::QUEUED) {
    hand_back(*entry, ended.reason(), now);
    return know(id, *entry, -1);
  }
  const v1::Ended kept = with_room(*entry, ended);
  entry->row.job.set_result_json(kept.result_json());
  const bool is_end = kept.state() >= v1::DONE && v1::JobState_IsValid(kept.state());
  end(*entry, is_end ? kept.state() : v1::FAILED, kept.reason(), now);
  know(id, *entry, -1);
}

void Book::said(WorkerId id, const v1::FromWorker& message, double now) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;  // its connection is being closed
  const bool is_known = !found->second.name.empty();
  if (is_known) found->second.heard_at = now;  // beats of a stranger keep nothing open
  if (const Status good = check_said(message); !good.ok()) {
    return is_known ? refuse(id, "", 0, 0, good.error().message)
                    : send_away(id, good.error().message);
  }
  if (message.has_hello()) return hello(id, message.hello());
  if (found->second.name.empty()) return refuse(id, "", 0, 0, "the first message must be hello");
  switch (message.what_case()) {
    case v1::FromWorker::kKinds: {
      const v1::Kinds& kinds = message.kinds();
      Entry* entry = fenced(id, kinds.job(), kinds.epoch(), 0);
      if (entry == nullptr) return;
      Status good = check_kinds(kinds.kinds());
      if (good.ok() && entry->row.foreign && is_of_another(*entry)) {
        good = check_tuned_kinds(kinds.kinds());
      }
      if (!good.ok()) return refuse(id, kinds.job(), kinds.epoch(), 0, good.error().message);
      return take_kinds(*entry, kinds, now);
    }
    case v1::FromWorker::kOffer: {
      const v1::Offer& offer = message.offer();
      Entry* entry = fenced(id, offer.job(), offer.epoch(), offer.stage());
      if (entry != nullptr) take_offer(id, *entry, offer, now);
      return;
    }
    case v1::FromWorker::kFinished: {
      const v1::Finished& finished = message.finished();
      Entry* entry = fenced(id, finished.job(), finished.epoch(), finished.stage());
      if (entry != nullptr) take_finished(id, *entry, finished, now);
      return;
    }
    case v1::FromWorker::kProgress: {
      const v1::Progress& progress = message.progress();
      Entry* entry = fenced(id, progress.job(), progress.epoch(), 0);
      if (entry != nullptr) take_progress(*entry, progress);
      return;
    }
    case v1::FromWorker::kEnded:
      return take_end(id, within_limits(message.ended()), now);
    case v1::FromWorker::kAlive: {
      const v1::Alive& alive = message.alive();
      Entry* entry = fenced(id, alive.job(), alive.epoch(), alive.stage());
      if (entry != nullptr) take_alive(*entry, alive, now);
      return;
    }
    case v1::FromWorker::kRegister:
      return take_registration(id, message.register_(), now);
    default:
      return;
  }
}

// A foreign job starts with its tuner, or goes on with it in a new epoch when that comes back.
void Book::take_registration(WorkerId id, const v1::Register& registration, double now) {
  if (const Status good = check_kinds(registration.kinds()); !good.ok()) {
    return refuse(id, "", 0, -2, good.error().message);
  }
  const Worker& tuner = workers_.at(id);
  const Caller& caller = tuner.pass.caller;
  if (!may(tuner.standing, Right::Register)) return refuse(id, "", 0, -2, "it brings no jobs");
  if (const Status good = check_tuner(caller, registration); !good.ok()) {
    return refuse(id, "", 0, -2, good.error().message);
  }
  v1::SubmitRequest request;
  *request.mutable_spec() = registration.spec();
  request.mutable_spec()->clear_files();
  request.mutable_spec()->clear_output();
  const bool named = request.spec().user() != caller.user && !request.spec().user().empty();
  if (named && !may(standing_of(caller, options_.uid), Right::NameUser)) {
    return refuse(id, "", 0, -2,
                  fmt::format("the job is said to be {}'s, but {} brings it", request.spec().user(),
                              caller.user));
  }
  if (request.spec().model().empty()) request.mutable_spec()->set_model("another tuner's");
  request.mutable_spec()->set_no_wait(false);
  request.set_idempotency_key(registration.idempotency_key());
  const Result<v1::SubmitReply> reply = add_job(caller, request, true, now);
  if (!reply.ok()) return refuse(id, "", 0, -2, reply.error().message);
  const std::size_t position = by_id_.at(reply->job().id());
  Entry& entry = entries_[position];
  if (!entry.row.foreign) {
    return refuse(id, entry.id(), 0, -2,
                  "a job that was submitted has this key, another tuner cannot have it");
  }
  if (entry.ended() || entry.worker != 0 || entry.leaving != 0) {
    return refuse(id, entry.id(), 0, -2,
                  entry.ended() ? "the job has ended" : "another worker has the job");
  }
  drop_stages(entry);  // of a tuner that begins anew
  entry.held_until = -1;
  entry.worker = id;
  entry.secret = workers_.at(id).hello.secret();
  entry.row.job.set_worker(workers_.at(id).name);
  entry.row.job.set_epoch(entry.row.job.epoch() + 1);
  if (entry.row.job.started_at() == 0) entry.row.job.set_started_at(now);
  entry.finished.clear();
  entry.completed.clear();
  entry.kinds_said = false;
  workers_.at(id).jobs.push_back(position);
  scheduler_.set_active(entry.index, !entry.paused);
  touch(entry);
  know(id, entry, -2);
  v1::Kinds kinds;
  *kinds.mutable_kinds() = registration.kinds();
  take_kinds(entry, kinds, now);
}

// A worker cannot begin with it: it is given out again after a while.
void Book::hand_back(Entry& entry, const std::string& reason, double now) {
  drop_stages(entry);
  std::erase(workers_.at(entry.worker).jobs, entry.position);
  if (entry.row.wish == v1::CANCEL) {
    entry.worker = 0;
    return end(entry, v1::CANCELLED, "", now);
  }
  hold(entry, now + options_.lease_seconds);
  entry.row.job.clear_worker();
  entry.row.job.set_reason(reason);
}

void Book::time_passed(double now) {
  std::vector<WorkerId> silent;
  for (const auto& [id, worker] : workers_) {
    if (now - worker.heard_at >= options_.lease_seconds) silent.push_back(id);
  }
  for (const WorkerId id : silent) lose(id, now);
  const std::vector<std::size_t> held(held_.begin(), held_.end());
  for (const std::size_t position : held) {
    Entry& entry = entries_[position];
    if (now >= entry.held_until) take_back(entry, now);
  }
  end_silent_stages(now);
}

double Book::next_deadline() const {
  double deadline = std::numeric_limits<double>::infinity();
  if (!thinking_.empty()) deadline = hold_until_;
  for (const auto& [id, worker] : workers_) {
    deadline = std::min(deadline, worker.heard_at + options_.lease_seconds);
  }
  for (const std::size_t position : held_) {
    deadline = std::min(deadline, entries_[position].held_until);
  }
  return std::min(deadline, next_stage_deadline());
}

void Book::assign(std::size_t position, WorkerId id, double now) {
  Entry& entry = entries_[position];
  Worker& worker = workers_.at(id);
  v1::Job& job = entry.row.job;
  entry.worker = id;
  entry.secret = worker.hello.secret();
  entry.finished.clear();
  entry.completed.clear();
  entry.kinds_said = false;
  worker.jobs.push_back(position);
  job.set_worker(worker.name);
  job.set_epoch(job.epoch() + 1);
  if (job.started_at() == 0) job.set_started_at(now);
  scheduler_.set_active(entry.index, true);
  touch(entry);
  v1::Assign& assigned = *send(id, true).mutable_assign();
  *assigned.mutable_job() = job;
  assigned.mutable_job()->clear_hold();
  if (const auto pool = pool_of(job.spec().device())) {
    const auto& units = options_.pools[*pool].units;
    assigned.set_devices(static_cast<int>(units.size()));
    assigned.set_device_cores(static_cast<int>(units[0].size()));
  }
  if (entry.row.wish) order(entry);
}

}  // namespace attune::jobs

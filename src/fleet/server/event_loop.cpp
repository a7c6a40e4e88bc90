#include "fleet/server/event_loop.h"

#include <algorithm>
#include <cmath>

#include "fleet/jobs/book/user_limits.h"

namespace attune::server {
namespace {

// Those who watch see changes at most so often, and with many jobs and stages so seldom that
// telling all of one user takes little of the time.
constexpr double kBetweenSnapshots = 0.25;

}  // namespace

EventLoop::EventLoop(jobs::Book book, Journal& journal, World& world, UnixClock clock,
                     double lease_seconds)
    : turns_(std::move(book), lease_seconds, clock.now()),
      journal_(journal),
      world_(world),
      clock_(std::move(clock)),
      thread_([this] { run(); }) {}

EventLoop::~EventLoop() { stop(); }

bool EventLoop::post(Event event) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    events_.push_back(std::move(event));
  }
  posted_.notify_one();
  return true;
}

void EventLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  posted_.notify_one();
  if (thread_.joinable()) thread_.join();
}

double EventLoop::deadline() const {
  double deadline = turns_.next_at(clock_.now());
  for (const auto& [id, watcher] : watchers_) {
    if (watcher.ready && watcher.news) deadline = std::min(deadline, watcher.next_at);
  }
  return deadline;
}

void EventLoop::run() {
  while (true) {
    std::vector<Event> events;
    const double until = deadline();
    {
      std::unique_lock lock(mutex_);
      const auto due = [&] { return stopping_ || !events_.empty(); };
      if (std::isinf(until)) {
        posted_.wait(lock, due);
      } else {
        posted_.wait_until(lock, clock_.moment_of(until), due);
      }
      if (stopping_ && events_.empty()) return;
      events.swap(events_);
    }
    hear(events);
  }
}

void EventLoop::hear(const std::vector<Event>& events) {
  const double now = clock_.now();
  Turns::Decision decision = turns_.take(
      events, now, {.serving = serving_, .disk_busy_seconds = journal_.writing_seconds()});
  const bool changed = decision.changed;
  carry_out(std::move(decision));
  tell_watchers(now, changed);
}

void EventLoop::carry_out(Turns::Decision decision) {
  jobs::Effects& effects = decision.effects;
  std::vector<Acknowledge>& waiting = decision.waiting;
  for (const jobs::WorkerId worker : effects.kill) world_.kill(worker);
  for (jobs::Message& message : effects.messages) {
    if (!message.acknowledges) {
      world_.send(message.worker, message.what);
      continue;
    }
    waiting.push_back(
        [this, worker = message.worker, what = std::move(message.what)](const Status& written) {
          if (written.ok()) world_.send(worker, what);
        });
  }
  for (const jobs::JobRow& row : effects.jobs) {
    if (row.job.result_json().empty()) continue;
    waiting.push_back([this, id = row.job.id()](const Status& written) {
      if (written.ok()) post([id](Turn& turn) { turn.book.report_is_written(id); });
    });
  }
  journal_.append({.jobs = std::move(effects.jobs),
                   .stages = std::move(effects.stages),
                   .forgotten = std::move(effects.forgotten),
                   .folders = std::move(decision.folders)},
                  std::move(waiting));
  for (const jobs::WorkerId worker : effects.close) world_.close(worker);
  world_.parked(turns_.book().parked_workers());
  for (const std::string& text : effects.notes) world_.note(text);
}

bool EventLoop::watch(std::uint64_t watcher, jobs::Caller caller, v1::ListRequest request,
                      Deliver deliver) {
  Watcher watches{
      .caller = std::move(caller), .request = std::move(request), .deliver = std::move(deliver)};
  return post([this, watcher, watches = std::move(watches)](Turn& turn) {
    watchers_[watcher] = watches;
    watchers_[watcher].request.set_after(0);
    watchers_[watcher].next_at = turn.now;
  });
}

void EventLoop::watcher_ready(std::uint64_t watcher) {
  post([this, watcher](Turn&) {
    if (const auto found = watchers_.find(watcher); found != watchers_.end()) {
      found->second.ready = true;
    }
  });
}

void EventLoop::unwatch(std::uint64_t watcher) {
  post([this, watcher](Turn&) { watchers_.erase(watcher); });
}

void EventLoop::tell_watchers(double at, bool changed) {
  std::map<std::uint32_t, int> watching;  // by user
  for (const auto& [id, watcher] : watchers_) ++watching[watcher.caller.uid];
  for (auto& [id, watcher] : watchers_) {
    watcher.news = watcher.news || changed;
    const bool goes_on = watcher.request.after() != 0;
    const bool begins = !goes_on && watcher.news && at >= watcher.next_at;
    if (!watcher.ready || (!goes_on && !begins)) continue;
    if (begins) {
      watcher.news = false;
      watcher.cost_seconds = 0;
    }
    tell(watcher, at, jobs::kShareOfWatchers / watching.at(watcher.caller.uid));
  }
}

void EventLoop::tell(Watcher& watcher, double at, double share) {
  watcher.ready = false;
  const double begun = clock_.now();
  Result<v1::Snapshot> part = turns_.book().snapshot(watcher.caller, watcher.request, at);
  watcher.request.set_after(part.ok() ? part->next() : 0);
  watcher.deliver(std::move(part));
  watcher.cost_seconds += clock_.now() - begun;
  watcher.next_at = at + std::max(kBetweenSnapshots, watcher.cost_seconds / share);
}

}  // namespace attune::server

// What people see of the book: states in words, places in queues, predicted ends, how busy pools
// are.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

#include "fleet/jobs/book/book.h"
#include "fleet/jobs/scheduler/outlook.h"
#include "fleet/wire/limits.h"

namespace attune::jobs {
namespace {

// Utilisation is of this long until now, and so are the bars of all jobs together.
constexpr double kUtilisationSeconds = 60;
constexpr double kBarsSeconds = 600;

// Of a job that ended: the stages that it had. Nothing is to come, and nothing is expected.
void keep_what_was(v1::Job& job) {
  const v1::Job all = job;
  job.clear_kinds();
  job.clear_stages_done();
  for (int i = 0; i < all.stages_done_size() && i < all.kinds_size(); ++i) {
    if (all.stages_done(i) == 0) continue;
    v1::StageKind& kind = *job.add_kinds();
    kind = all.kinds(i);
    kind.set_left(0);
    kind.set_usual_seconds(0);
    job.add_stages_done(all.stages_done(i));
  }
}

}  // namespace

// What is worked out once for all jobs of a snapshot.
struct Book::Outlook {
  double now = 0;
  std::vector<std::string> keys = {};
  std::vector<double> ends = {};                         // by index of the scheduler; 0: not known
  std::unordered_map<JobIndex, int> pool_position = {};  // among those that wait for the same pool
  std::vector<const WaitingJob*> queue = {};             // those that wait for a worker, in order
  std::unordered_map<std::string, int> queue_position = {};
};

Book::Outlook Book::outlook(double now) const {
  Outlook outlook{.now = now, .keys = device_keys()};
  outlook.queue = queue(now);
  predict_ends(outlook);
  predict_queued(outlook);
  find_pool_places(outlook);
  std::map<std::string, int> devices;
  for (const WaitingJob* waiting : outlook.queue) {
    const v1::Job& job = entries_[waiting->position].row.job;
    outlook.queue_position[job.id()] = ++devices[job.spec().device()];
  }
  return outlook;
}

// What is told of one job alone. When one will end that waits for a worker follows from all that
// wait: that is left out.
Book::Outlook Book::outlook_of(const Entry& entry, double now) const {
  Outlook outlook{.now = now, .keys = device_keys()};
  if (entry.worker != 0) {
    predict_ends(outlook);
    find_pool_places(outlook);
  } else if (const int position = queue_position(entry, now); position > 0) {
    outlook.queue_position[entry.id()] = position;
  }
  return outlook;
}

void Book::predict_ends(Outlook& outlook) const {
  const View view = scheduler_.view(outlook.now);
  outlook.ends.assign(view.jobs.size(), 0.0);
  std::vector<int> capacities;
  for (const PoolView& pool : view.pools) capacities.push_back(pool.capacity);
  std::vector<Demand> demands;
  std::vector<JobIndex> who;
  for (JobIndex index = 0; index < view.jobs.size(); ++index) {
    const JobView& job = view.jobs[index];
    if (!job.active || job.work_left.empty()) continue;
    demands.push_back({job.remaining_seconds, job.work_left});
    who.push_back(index);
  }
  const std::vector<double> ends = shared_ends(demands, capacities);
  for (std::size_t i = 0; i < who.size(); ++i) outlook.ends[who[i]] = outlook.now + ends[i];
}

// Each gets the first worker that will be free, and is then slowed down by others as much as those
// are that run now.
void Book::predict_queued(Outlook& outlook) const {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  using Moments = std::priority_queue<double, std::vector<double>, std::greater<>>;
  const View view = scheduler_.view(outlook.now);
  std::map<std::string, Moments> free_at;  // workers, by device
  double stretch = 0, running = 0;
  for (const auto& [id, worker] : workers_) {
    if (!worker.hello.takes_jobs()) continue;
    double moment = outlook.now;
    if (!worker.jobs.empty()) {
      const JobIndex job = entries_[worker.jobs.front()].index;
      const double end = outlook.ends[job], alone = view.jobs[job].remaining_seconds;
      moment = end > 0 ? end : kNever;
      if (end > 0 && alone > 0) stretch += (end - outlook.now) / alone, running += 1;
    }
    for (const std::string& device : worker.hello.devices()) free_at[device].push(moment);
  }
  stretch = running > 0 ? std::max(stretch / running, 1.0) : 1.0;
  for (const WaitingJob* waiting : outlook.queue) {
    const Entry& entry = entries_[waiting->position];
    Moments& moments = free_at[entry.row.job.spec().device()];
    if (moments.empty()) continue;
    const double left = seconds_left(*waiting, view);
    const double end = left < 0 ? kNever : moments.top() + left * stretch;
    moments.pop();
    moments.push(end);
    if (end < kNever) outlook.ends[entry.index] = end;
  }
}

void Book::find_pool_places(Outlook& outlook) const {
  struct Waiting {
    Rank rank;
    const StageView* stage;
  };
  const View view = scheduler_.view(outlook.now);
  std::vector<Waiting> waiting;
  constexpr double kLast = std::numeric_limits<double>::infinity();
  for (const StageView& stage : view.ready) {
    const auto rank = options_.policy->rank(view, stage);
    waiting.push_back({rank.value_or(Rank{kLast, kLast, kLast}), &stage});
  }
  std::sort(waiting.begin(), waiting.end(),
            [](const Waiting& a, const Waiting& b) { return a.rank < b.rank; });
  std::vector<int> places(view.pools.size(), 0);
  for (const Waiting& each : waiting) {
    if (outlook.pool_position.count(each.stage->job) != 0) continue;
    outlook.pool_position[each.stage->job] = ++places[each.stage->pool];
  }
}

void Book::say_what_it_waits_for(const Entry& entry, const Outlook& outlook, v1::Job& job) const {
  const std::string& device = job.spec().device();
  if (entry.worker == 0) {
    job.set_state(v1::QUEUED);
    const auto place = outlook.queue_position.find(entry.id());
    if (place != outlook.queue_position.end()) job.set_queue_position(place->second);
    const auto& keys = outlook.keys;
    job.set_waiting_for("worker");
    if (entry.leaving != 0) {
      job.set_reason(fmt::format("waits for the process of its worker {} to end", job.worker()));
    } else if (entry.row.foreign) {
      job.set_reason("waits for its tuner to come back");
    } else if (entry.held_until >= 0) {
      if (job.reason().empty()) job.set_reason("waits for its worker to come back");
    } else if (std::find(keys.begin(), keys.end(), device) != keys.end()) {
      job.set_reason("waits for a worker");
    } else {
      job.set_waiting_for(device);
      job.set_reason(fmt::format("no worker has a device '{}'; there are {}", device,
                                 keys.empty() ? "none" : fmt::format("{}", fmt::join(keys, ", "))));
    }
    return;
  }
  job.set_state(v1::RUNNING);
  const auto runs = [](const auto& stage) { return stage.second.runs; };
  if (!entry.stages.empty() && std::none_of(entry.stages.begin(), entry.stages.end(), runs)) {
    const Stage& first = entry.stages.begin()->second;
    const std::string& pool = job.kinds(static_cast<int>(first.kind)).pool();
    job.set_state(v1::WAITING);
    job.set_waiting_for(pool);
    job.set_reason(fmt::format("waits for {}", pool));
    const auto position = outlook.pool_position.find(entry.index);
    if (position != outlook.pool_position.end()) job.set_queue_position(position->second);
  }
  if (entry.row.wish) {
    job.set_reason(entry.row.wish == v1::STOP ? "is being stopped" : "is being cancelled");
  }
}

v1::Job Book::picture(const Entry& entry, const Outlook& outlook) const {
  v1::Job job = entry.row.job;
  job.clear_hold();
  if (job.has_strikes()) job.mutable_strikes()->clear_reached();
  if (entry.ended()) {
    keep_what_was(job);
    return job;
  }
  if (entry.paused) {
    job.set_state(v1::PAUSED);
    return job;
  }
  say_what_it_waits_for(entry, outlook, job);
  if (entry.index < outlook.ends.size()) job.set_predicted_end(outlook.ends[entry.index]);
  return job;
}

v1::Job Book::picture_at(const Entry& entry, double now) const {
  return picture(entry, outlook_of(entry, now));
}

void Book::add_pools(v1::Snapshot& snapshot, double now) const {
  const View view = scheduler_.view(now);
  const double since = std::max(now - kUtilisationSeconds, opened_at_);
  std::map<std::string, double> used;
  const auto add = [&](const v1::Bar& bar, double end) {
    used[bar.pool()] += std::max(0.0, end - std::max(bar.started_at(), since)) * bar.slots_size();
  };
  for (auto bar = bars_.rbegin(); bar != bars_.rend() && bar->ended_at() > since; ++bar) {
    add(*bar, bar->ended_at());
  }
  for (const StageView& stage : view.running) {
    const Place place = places_.at(stage.id);
    const double started = entries_[place.entry].stages.at(place.stage).started_at;
    used[options_.pools[stage.pool].name] += stage.amount * (now - std::max(started, since));
  }
  for (std::size_t i = 0; i < options_.pools.size(); ++i) {
    v1::PoolState& pool = *snapshot.add_pools();
    pool.set_name(options_.pools[i].name);
    pool.set_capacity(view.pools[i].capacity);
    pool.set_used(view.pools[i].capacity - view.pools[i].free);
    const double all = view.pools[i].capacity * (now - since);
    pool.set_cores(static_cast<int>(options_.pools[i].units[0].size()));
    pool.set_utilisation(all > 0 ? std::min(1.0, used[options_.pools[i].name] / all) : 0);
  }
}

void Book::add_bars(const Caller& caller, const std::string& job, v1::Snapshot& snapshot) const {
  std::size_t first = bars_.size();
  for (std::size_t bytes = 0; first > 0 && bytes < wire::kListPartBytes; --first) {
    bytes += bars_[first - 1].ByteSizeLong();  // the newest are shown where they are too many
  }
  for (; first < bars_.size(); ++first) {
    const v1::Bar& bar = bars_[first];
    if (job.empty() ? bar.ended_at() < snapshot.now() - kBarsSeconds : bar.job() != job) continue;
    v1::Bar& shown = *snapshot.add_bars();
    shown = bar;
    const auto found = by_id_.find(bar.job());
    if (found == by_id_.end() || !may_see(caller, entries_[found->second])) shown.clear_kind();
  }
  for (const StageView& stage : scheduler_.view(snapshot.now()).running) {
    const Place place = places_.at(stage.id);
    const Entry& entry = entries_[place.entry];
    if (!job.empty() && entry.id() != job) continue;
    v1::Bar& bar = *snapshot.add_bars();
    bar.set_job(entry.id());
    if (may_see(caller, entry)) {
      bar.set_kind(entry.row.job.kinds(static_cast<int>(stage.kind)).name());
    }
    bar.set_pool(options_.pools[stage.pool].name);
    for (const int slot : scheduler_.slots_of(stage.id)) bar.add_slots(slot);
    bar.set_ready_at(stage.ready_at);
    bar.set_started_at(entry.stages.at(place.stage).started_at);
  }
}

Result<v1::Snapshot> Book::snapshot(const Caller& caller, const v1::ListRequest& request,
                                    double now) const {
  const Entry* one = nullptr;  // found before anything else is worked out
  if (!request.job().empty()) {
    ATTUNE_ASSIGN(const std::size_t position, find(caller, request.job(), Right::SeeDetails));
    one = &entries_[position];
  }
  v1::Snapshot snapshot;
  snapshot.set_now(now);
  snapshot.set_policy(std::string(options_.policy->name));
  snapshot.set_cores_kept(options_.cores_kept);
  const Outlook seen = outlook(now);
  if (one != nullptr) {
    *snapshot.add_jobs() = picture(*one, seen);
  } else {
    std::size_t bytes = 0;
    for (const Entry& entry : entries_) {
      if (entry.row.number <= request.after()) continue;
      if (bytes > wire::kListPartBytes) break;
      v1::Job& each = *snapshot.add_jobs();
      each = picture(entry, seen);
      // What is long and only whoever asks for the one job wants to know.
      each.clear_result_json();
      each.mutable_spec()->clear_options_json();
      if (!may_see(caller, entry)) each = without_details(each);
      bytes += each.ByteSizeLong();
      snapshot.set_next(entry.position == entries_.back().position ? 0 : entry.row.number);
    }
  }
  for (const std::string& key : seen.keys) snapshot.add_device_keys(key);
  add_pools(snapshot, now);
  if (request.with_bars() && snapshot.next() == 0) {
    add_bars(caller, one == nullptr ? "" : one->id(), snapshot);
  }
  return snapshot;
}

}  // namespace attune::jobs

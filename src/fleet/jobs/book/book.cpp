// Jobs of the book: how they come in, what their owners want of them, how they end.
#include "fleet/jobs/book/book.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/model/text/model_text.h"
#include "fleet/jobs/book/checks.h"
#include "fleet/wire/denied.h"
#include "fleet/wire/devices.h"
#include "fleet/wire/limits.h"

namespace attune::jobs {
namespace {

std::vector<Pool> pools_of(const BookOptions& options) {
  std::vector<Pool> pools;
  for (const BookPool& pool : options.pools) {
    pools.push_back({pool.name, static_cast<int>(pool.units.size())});
  }
  return pools;
}

// Users are numbered in the order of their names, those with a quota first.
std::vector<int> quotas_of(const BookOptions& options) {
  std::vector<int> quotas;
  for (const auto& [user, quota] : options.quotas) quotas.push_back(quota);
  return quotas;
}

std::string_view word_of(v1::JobState state) {
  switch (state) {
    case v1::PAUSED:
      return "paused";
    case v1::DONE:
      return "done";
    case v1::STOPPED:
      return "stopped";
    case v1::CANCELLED:
      return "cancelled";
    case v1::FAILED:
      return "failed";
    default:
      return "queued";
  }
}

Error not_found(const std::string& name) {
  return {ErrorCode::NotFound, fmt::format("there is no job '{}'", name),
          "'attune jobs' lists all jobs"};
}

// Of a job that nobody gave a name.
std::string name_for(const std::string& model) {
  constexpr std::size_t kRoomForANumber = 20;  // of the second one of that name
  const std::string name =
      cut_text(model_text::short_name(model), wire::kLongestName - kRoomForANumber);
  return looks_like_id(name) ? "model-" + name : name;
}

}  // namespace

Book::Book(BookOptions options, std::vector<JobRow> stored, double now)
    : options_(std::move(options)),
      scheduler_(pools_of(options_), *options_.policy, {}, quotas_of(options_)),
      opened_at_(now) {
  for (const auto& [user, quota] : options_.quotas) user_of(user);
  for (const auto& [a, b] : options_.apart) {
    const auto first = static_cast<std::uint32_t>(groups_.size());
    const std::uint32_t group = groups_.emplace(a, first).first->second;
    const auto second = static_cast<std::uint32_t>(groups_.size());
    scheduler_.forbid(group, groups_.emplace(b, second).first->second);
  }
  for (JobRow& row : stored) {
    const std::size_t position = add_entry(std::move(row), now);
    Entry& entry = entries_[position];
    if (!entry.ended() && (entry.row.foreign || entry.row.job.has_hold())) restore(entry, now);
    relist(entry);
  }
}

// A key is its user's own: others may have the same one.
std::string Book::key_of(std::uint32_t uid, const std::string& key) {
  return fmt::format("{} {}", uid, key);
}

std::uint32_t Book::user_of(const std::string& name) {
  return users_.emplace(name, static_cast<std::uint32_t>(users_.size())).first->second;
}

std::size_t Book::add_entry(JobRow row, double now) {
  const std::size_t position = entries_.add({.row = std::move(row)});
  Entry& entry = entries_[position];
  entry.position = position;
  const std::uint32_t uid = entry.row.job.uid();
  by_id_[entry.id()] = position;
  if (!entry.row.key.empty()) by_key_[key_of(uid, entry.row.key)] = position;
  names_.add(entry.row.job.spec().name(), position);
  count_in(entry);
  if (entry.ended()) {
    if (!entry.row.foreign) experience_.learn_job(entry.row.job);
    return position;
  }
  const v1::JobSpec& spec = entry.row.job.spec();
  names_.open(uid, spec.name(), position);
  entry.paused = entry.row.job.state() == v1::PAUSED;
  entry.index = scheduler_.add_job({.user = user_of(spec.user()),
                                    .priority = spec.priority(),
                                    .prefetch = spec.prefetch(),
                                    .attained_seconds = entry.row.job.attained_seconds()},
                                   std::min(entry.row.job.submitted_at(), now));
  scheduler_.set_active(entry.index, false);  // until a worker has it
  return position;
}

std::vector<std::string> Book::device_keys() const {
  std::set<std::string> keys;
  for (std::size_t i = 1; options_.local_workers && i < options_.pools.size(); ++i) {
    keys.insert(options_.pools[i].name);
  }
  for (const auto& [id, worker] : workers_) {
    if (!worker.hello.takes_jobs()) continue;
    keys.insert(worker.hello.devices().begin(), worker.hello.devices().end());
  }
  return {keys.begin(), keys.end()};
}

Result<v1::JobSpec> Book::checked(v1::JobSpec spec) const {
  ATTUNE_RETURN_IF_ERROR(check_numbers(spec));
  ATTUNE_RETURN_IF_ERROR(check_names(spec));
  if (spec.model().empty()) return invalid("the job has no model");
  if (looks_like_id(spec.name())) {
    return invalid(fmt::format("the name '{}' looks like the number of a job", spec.name()),
                   "give another --name");
  }
  if (spec.priority() == 0) spec.set_priority(1);
  if (spec.prefetch() == 0) spec.set_prefetch(options_.prefetch);
  if (options_.in_turn) spec.set_in_turn(true);
  if (spec.device().empty()) spec.set_device(wire::kMeasuringCores);
  const std::vector<std::string> keys = device_keys();
  const bool exists = std::find(keys.begin(), keys.end(), spec.device()) != keys.end();
  if (spec.no_wait() && !exists) {
    return Error{ErrorCode::NotFound, fmt::format("no worker has a device '{}'", spec.device()),
                 keys.empty() ? "there are no workers; leave out --no-wait to wait for one"
                              : fmt::format("devices are {}", fmt::join(keys, ", "))};
  }
  for (const BookPool& pool : options_.pools) {
    if (pool.name != spec.device() || pool.units[0].empty()) continue;
    const std::size_t cores = pool.units[0].size() + options_.pools[0].units.size();
    if (static_cast<std::size_t>(spec.threads()) > cores) {
      return invalid(fmt::format("the job asks for {} threads, this machine has {} cores",
                                 spec.threads(), cores),
                     "give --threads as many or fewer");
    }
  }
  return spec;
}

Result<v1::SubmitReply> Book::submit(const Caller& caller, const v1::SubmitRequest& request,
                                     double now, std::uint64_t files_bytes) {
  ATTUNE_RETURN_IF_ERROR(check_may_submit(caller, options_.uid, request.spec()));
  return add_job(caller, request, false, now, files_bytes);
}

Result<v1::SubmitReply> Book::add_job(const Caller& caller, const v1::SubmitRequest& request,
                                      bool foreign, double now, std::uint64_t files_bytes) {
  ATTUNE_RETURN_IF_ERROR(check_size(request));
  ATTUNE_RETURN_IF_ERROR(check_known(request));
  v1::SubmitReply reply;
  const auto known = by_key_.find(key_of(caller.uid, request.idempotency_key()));
  if (known != by_key_.end()) {
    *reply.mutable_job() = picture_at(entries_[known->second], now);
    reply.set_already_known(true);
    return reply;
  }
  ATTUNE_ASSIGN(v1::JobSpec spec, checked(request.spec()));
  if (caller.uid != options_.uid) ATTUNE_RETURN_IF_ERROR(check_asked_of_another(spec));
  if (spec.user().empty()) spec.set_user(caller.user);
  if (const auto same = names_.find_open(caller.uid, spec.name())) {
    const Entry& entry = entries_[*same];
    const bool runs = entry.worker != 0 && !entry.paused;
    return invalid(fmt::format("there is a job '{}' already, which is {}", spec.name(),
                               runs ? "running" : word_of(entry.row.job.state())),
                   "give another --name");
  }
  JobRow row{.number = entries_.empty() ? 1 : entries_.back().row.number + 1,
             .key = request.idempotency_key(),
             .foreign = foreign};
  row.job.set_uid(caller.uid);
  row.job.set_id(fmt::format("j{}", row.number));
  *row.job.mutable_spec() = std::move(spec);
  row.job.set_submitted_at(now);
  row.job.set_files_bytes(files_bytes);
  ATTUNE_RETURN_IF_ERROR(check_room(caller, row, request.known_json().size()));
  v1::JobSpec& named = *row.job.mutable_spec();
  if (named.name().empty()) {
    named.set_name(names_.take_free(caller.uid, name_for(named.model())));
  }
  const std::size_t position = add_entry(std::move(row), now);
  touch(entries_[position]);
  if (!request.known_json().empty()) {
    Entry& entry = entries_[position];
    entry.row.job.set_result_json(request.known_json());
    entry.row.job.set_best_ms(request.known_ms());
    end(entry, v1::DONE, "the records meet its goal already", now);
  }
  *reply.mutable_job() = picture_at(entries_[position], now);
  return reply;
}

bool Book::may_see(const Caller& caller, const Entry& entry) const {
  return may(standing_of(caller, entry.row.job, options_.uid), Right::SeeDetails);
}

// Names are their users' own; the scheduler's user knows all of them, and its own come first.
Result<std::size_t> Book::find(const Caller& caller, const std::string& job, Right right) const {
  if (const auto found = by_id_.find(job); found != by_id_.end()) {
    const v1::Job& it = entries_[found->second].row.job;
    if (may(standing_of(caller, it, options_.uid), right)) return found->second;
    return wire::denied(fmt::format("job '{}' is {}'s", job, it.spec().user()),
                        "only its owner and the scheduler's user may do that");
  }
  std::optional<std::size_t> best;
  const auto rank = [&](const Entry& entry) {
    return (entry.row.job.uid() == caller.uid ? 2 : 0) + (entry.ended() ? 0 : 1);
  };
  for (const std::size_t position : names_.called(job)) {
    const Entry& entry = entries_[position];
    if (!may_see(caller, entry)) continue;
    if (!best || rank(entry) >= rank(entries_[*best])) best = position;
  }
  if (!best) return not_found(job);
  return *best;
}

Result<std::string> Book::fetched(const Caller& caller, const std::string& job) const {
  ATTUNE_ASSIGN(const std::size_t position, find(caller, job, Right::Fetch));
  const Entry& entry = entries_[position];
  if (entry.ended()) return entry.id();
  return invalid(fmt::format("job '{}' has not ended", job), "'attune jobs watch' waits for it");
}

Result<v1::Job> Book::control(const Caller& caller, const v1::ControlRequest& request, double now) {
  ATTUNE_RETURN_IF_ERROR(check_wish(request.wish()));
  ATTUNE_ASSIGN(const std::size_t position, find(caller, request.job(), Right::Control));
  Entry& entry = entries_[position];
  if (entry.ended()) {
    return invalid(
        fmt::format("job '{}' has ended: it is {}", request.job(), word_of(entry.row.job.state())));
  }
  if (request.wish() == v1::PAUSE) {
    if (entry.row.wish) {
      return invalid(fmt::format("job '{}' is about to end and cannot be paused", request.job()));
    }
    pause(entry);
  } else if (request.wish() == v1::RESUME) {
    resume(entry, now);
  } else {
    const bool stop = request.wish() == v1::STOP;
    if (!(stop && entry.row.wish == v1::CANCEL)) entry.row.wish = request.wish();
    // What a worker found in an earlier epoch is worth keeping: the next one takes the order.
    const bool nothing_yet = entry.row.job.epoch() == 0 || entry.row.foreign;
    const bool nobody_has_it = entry.worker == 0 && entry.leaving == 0 && entry.held_until < 0;
    if (nobody_has_it && (nothing_yet || !stop)) {
      end(entry, stop ? v1::STOPPED : v1::CANCELLED, stop ? "stopped before it began" : "", now);
    } else {
      resume(entry, now);
      if (entry.worker != 0) order(entry);
    }
  }
  touch(entry);
  return picture_at(entry, now);
}

void Book::pause(Entry& entry) {
  if (entry.paused) return;
  entry.paused = true;
  entry.row.job.set_state(v1::PAUSED);
  scheduler_.withdraw(entry.index);
  scheduler_.set_active(entry.index, false);
  for (auto& [number, stage] : entry.stages) {
    if (stage.runs) continue;
    places_.erase(stage.id);
    stage.id = 0;
  }
}

void Book::resume(Entry& entry, double now) {
  if (!entry.paused) return;
  entry.paused = false;
  entry.row.job.set_state(v1::QUEUED);
  if (entry.worker != 0) scheduler_.set_active(entry.index, true);
  for (auto& [number, stage] : entry.stages) {
    if (stage.id == 0) offer(entry, number, stage, now);
  }
}

void Book::end(Entry& entry, v1::JobState state, const std::string& reason, double now) {
  drop_stages(entry);
  if (entry.worker != 0) {
    std::erase(workers_.at(entry.worker).jobs, entry.position);
    entry.worker = 0;
  }
  entry.held_until = -1;
  entry.paused = false;
  count_end(entry);
  scheduler_.remove_job(entry.index);
  entry.index = kNoJob;
  entry.finished.clear();
  entry.completed.clear();
  entry.row.job.set_state(state);
  entry.row.job.set_reason(reason);
  entry.row.job.set_ended_at(now);
  if (!entry.row.foreign) experience_.learn_job(entry.row.job);
  touch(entry);
}

}  // namespace attune::jobs

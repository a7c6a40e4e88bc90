// Jobs that wait for a worker: who is next.
#include <algorithm>

#include "fleet/jobs/book/book.h"

namespace attune::jobs {
namespace {

struct Ranked {
  Rank rank;
  const WaitingJob* job;
};

// In the order of the policy, and of their coming where that makes no difference.
bool goes_first(const Ranked& a, const Ranked& b) {
  return a.rank != b.rank ? a.rank < b.rank : a.job->position < b.job->position;
}

}  // namespace

// In which lists a job stands follows from what it is now.
void Book::relist(Entry& entry) {
  const std::size_t position = entry.position;
  const v1::JobSpec& spec = entry.row.job.spec();
  const bool open = !entry.ended(), held = entry.held_until >= 0;
  const auto list = [&](std::set<std::size_t>& in, bool belongs) {
    if (belongs) {
      in.insert(position);
    } else {
      in.erase(position);
    }
  };
  list(open_, open);
  list(held_, open && held);
  list(parked_, open && entry.paused && entry.worker != 0);
  list(staged_, open && entry.row.job.kinds_size() > 0);
  const bool taken = held || entry.worker != 0 || entry.leaving != 0 || entry.row.foreign;
  if (!open || entry.paused || taken) {
    waiting_.remove(position);
  } else if (!waiting_.has(position)) {
    waiting_.add(spec.device(), {position, entry.index, experience_.expect(spec)});
  }
  const std::uint32_t uid = entry.row.job.uid();
  if (!open && names_.find_open(uid, spec.name()) == position) names_.close(uid, spec.name());
}

// Predicted from its stages once a worker had it, before that from what others took; negative: not
// known.
double Book::seconds_left(const WaitingJob& waiting, const View& view) const {
  const JobView& job = view.jobs[waiting.index];
  if (job.remaining_seconds >= 0) return job.remaining_seconds;
  const double all = waiting.expected.seconds();
  return all < 0 ? all : std::max(all - job.attained_seconds, 0.0);
}

Rank Book::queue_rank(const WaitingJob& waiting, const View& view) const {
  ++jobs_ranked_;
  const JobView& job = view.jobs[waiting.index];
  return options_.policy->queue(view, {.user = job.user,
                                       .priority = job.priority,
                                       .submitted_at = job.submitted_at,
                                       .attained_seconds = job.attained_seconds,
                                       .remaining_seconds = seconds_left(waiting, view)});
}

std::vector<const WaitingJob*> Book::queue(double now) const {
  const View view = scheduler_.view(now);
  std::vector<Ranked> waiting;
  for (const auto& [device, list] : waiting_.by_device()) {
    for (const WaitingJob& job : list) waiting.push_back({queue_rank(job, view), &job});
  }
  std::sort(waiting.begin(), waiting.end(), goes_first);
  std::vector<const WaitingJob*> queue;
  for (const Ranked& each : waiting) queue.push_back(each.job);
  return queue;
}

// From 1, among those that wait for the same device; 0: it does not.
int Book::queue_position(const Entry& entry, double now) const {
  const View view = scheduler_.view(now);
  const WaitingJob* const own = waiting_.find(entry.position);
  if (own == nullptr) return 0;
  const Ranked place{queue_rank(*own, view), own};
  const WaitingJobs::List& list = waiting_.of(entry.row.job.spec().device());
  return 1 + static_cast<int>(std::count_if(list.begin(), list.end(), [&](const WaitingJob& job) {
           return &job != own && goes_first({queue_rank(job, view), &job}, place);
         }));
}

std::optional<std::size_t> Book::next_for(const Worker& worker, double now) const {
  const View view = scheduler_.view(now);
  std::optional<Ranked> first;
  for (const std::string& device : worker.hello.devices()) {
    for (const WaitingJob& job : waiting_.of(device)) {
      const Ranked ranked{queue_rank(job, view), &job};
      if (!first || goes_first(ranked, *first)) first = ranked;
    }
  }
  return first ? std::optional(first->job->position) : std::nullopt;
}

// Whoever was given one changes what others have a right to.
void Book::give_out_jobs(double now) {
  if (waiting_.empty()) return;
  for (auto& [id, worker] : workers_) {
    if (worker.name.empty() || !worker.hello.takes_jobs() || !worker.jobs.empty()) continue;
    if (const auto next = next_for(worker, now)) assign(*next, id, now);
  }
}

}  // namespace attune::jobs

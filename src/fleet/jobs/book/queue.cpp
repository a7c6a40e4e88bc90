// Jobs that wait for a worker: who is next.
#include <algorithm>

#include "fleet/jobs/book/book.h"

namespace attune::jobs {

// Predicted from its stages once a worker had it, before that from what others took; negative: not
// known.
double Book::seconds_left(const Entry& entry, const View& view) const {
  const JobView& job = view.jobs[entry.index];
  if (job.remaining_seconds >= 0) return job.remaining_seconds;
  const double all = experience_.job_seconds(entry.row.job.spec());
  return all < 0 ? all : std::max(all - job.attained_seconds, 0.0);
}

// In the order of the policy, and of their coming where that makes no difference.
std::vector<std::size_t> Book::queue(double now) const {
  struct Waiting {
    Rank rank;
    std::size_t position;
  };
  const View view = scheduler_.view(now);
  std::vector<Waiting> waiting;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.ended() || entry.paused || entry.worker != 0 || entry.row.foreign) continue;
    if (entry.held_until >= 0 || entry.leaving != 0) continue;
    JobView job = view.jobs[entry.index];
    job.remaining_seconds = seconds_left(entry, view);
    waiting.push_back({options_.policy->queue(view, job), i});
  }
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const Waiting& a, const Waiting& b) { return a.rank < b.rank; });
  std::vector<std::size_t> queue;
  for (const Waiting& each : waiting) queue.push_back(each.position);
  return queue;
}

void Book::give_out_jobs(double now) {
  std::optional<std::vector<std::size_t>> waiting;
  for (auto& [id, worker] : workers_) {
    if (worker.name.empty() || !worker.hello.takes_jobs() || !worker.jobs.empty()) continue;
    // Whoever was given one changes what others have a right to.
    if (!waiting) waiting = queue(now);
    if (waiting->empty()) return;
    const auto& devices = worker.hello.devices();
    const auto next = std::find_if(waiting->begin(), waiting->end(), [&](std::size_t position) {
      const std::string& device = entries_[position].row.job.spec().device();
      return std::find(devices.begin(), devices.end(), device) != devices.end();
    });
    if (next == waiting->end()) continue;
    assign(*next, id, now);
    waiting.reset();
  }
}

}  // namespace attune::jobs

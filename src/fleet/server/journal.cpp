#include "fleet/server/journal.h"

#include <iterator>
#include <set>

#include "base/clock.h"

namespace attune::server {
namespace {

template <typename T>
void move_to_end(std::vector<T>& all, std::vector<T> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// Of several rows of one job the last counts.
std::vector<jobs::JobRow> latest_of_each(std::vector<jobs::JobRow> rows) {
  std::set<std::int64_t> seen;
  std::vector<jobs::JobRow> latest;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (seen.insert(row->number).second) latest.push_back(std::move(*row));
  }
  return latest;
}

}  // namespace

Journal::Journal(StateFile file, std::function<void(const Error&)> on_failure)
    : file_(std::move(file)), on_failure_(std::move(on_failure)), thread_([this] { run(); }) {}

Journal::~Journal() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  appended_.notify_one();
  thread_.join();
}

void Journal::append(std::vector<jobs::JobRow> jobs, std::vector<jobs::StageRow> stages,
                     std::vector<Acknowledge> waiting) {
  if (jobs.empty() && stages.empty() && waiting.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    move_to_end(gathered_.jobs, std::move(jobs));
    move_to_end(gathered_.stages, std::move(stages));
    move_to_end(gathered_.waiting, std::move(waiting));
  }
  appended_.notify_one();
}

Status Journal::write(Batch& batch) {
  if (!failure_.ok()) return failure_;
  if (batch.jobs.empty() && batch.stages.empty()) return {};
  writing_since_ns_ = SteadyClock().now_ns();
  failure_ = file_.write(latest_of_each(std::move(batch.jobs)), batch.stages);
  writing_since_ns_ = 0;
  return failure_;
}

double Journal::writing_seconds() const {
  const std::int64_t since = writing_since_ns_;
  return since == 0 ? 0 : seconds_between(since, SteadyClock().now_ns());
}

void Journal::run() {
  while (true) {
    Batch batch;
    {
      std::unique_lock lock(mutex_);
      appended_.wait(lock, [&] { return closing_ || !gathered_.empty(); });
      if (gathered_.empty()) return;
      std::swap(batch, gathered_);
    }
    const bool failed_before = !failure_.ok();
    const Status status = write(batch);
    for (const Acknowledge& acknowledge : batch.waiting) acknowledge(status);
    if (!status.ok() && !failed_before) on_failure_(status.error());
  }
}

}  // namespace attune::server

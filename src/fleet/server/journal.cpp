#include "fleet/server/journal.h"

#include <iterator>
#include <utility>

#include "base/clock.h"

namespace attune::server {
namespace {

template <typename T>
void move_to_end(std::vector<T>& all, std::vector<T> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

constexpr std::int64_t kStagesAtOnce = 5000;

}  // namespace

Journal::Journal(StateFile file, std::function<void(const Error&)> on_failure, Sync sync)
    : file_(std::move(file)),
      on_failure_(std::move(on_failure)),
      sync_(std::move(sync)),
      thread_([this] { run(); }) {}

Journal::~Journal() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  appended_.notify_one();
  thread_.join();
}

void Journal::append(Changes changes, std::vector<Acknowledge> waiting) {
  if (changes.empty() && waiting.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    for (jobs::JobRow& row : changes.jobs) {
      const std::int64_t number = row.number;
      gathered_.jobs.insert_or_assign(number, std::move(row));
    }
    for (const jobs::ForgottenJob& job : changes.forgotten) gathered_.jobs.erase(job.number);
    move_to_end(gathered_.stages, std::move(changes.stages));
    move_to_end(gathered_.forgotten, std::move(changes.forgotten));
    gathered_.folders.insert(changes.folders.begin(), changes.folders.end());
    move_to_end(gathered_.waiting, std::move(waiting));
  }
  appended_.notify_one();
}

void Journal::trim_stages(double before, std::int64_t most) {
  {
    const std::lock_guard lock(mutex_);
    gathered_.trim = Trim{before, most};
  }
  appended_.notify_one();
}

Status Journal::write_all(Batch& batch) {
  for (const std::string& folder : batch.folders) ATTUNE_RETURN_IF_ERROR(sync_(folder));
  Changes changes{.stages = std::move(batch.stages), .forgotten = std::move(batch.forgotten)};
  for (auto& [number, row] : batch.jobs) changes.jobs.push_back(std::move(row));
  return changes.empty() ? Status() : file_.write(changes);
}

Status Journal::write(Batch& batch) {
  if (!failure_.ok() || batch.changes_nothing()) return failure_;
  writing_since_ns_ = SteadyClock().now_ns();
  failure_ = write_all(batch);
  writing_since_ns_ = 0;
  return failure_;
}

// What comes meanwhile goes first.
void Journal::trim(const Trim& limits) {
  const Result<std::int64_t> removed =
      file_.remove_stages(limits.before, limits.most, kStagesAtOnce);
  if (!removed.ok()) return;  // nothing is lost by it, and it is tried again
  const std::lock_guard lock(mutex_);
  if (*removed == kStagesAtOnce && !gathered_.trim && !closing_) gathered_.trim = limits;
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
    if (status.ok() && batch.trim) trim(*batch.trim);
  }
}

}  // namespace attune::server

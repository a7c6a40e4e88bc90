#include "fleet/server/retention/caretaker.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "fleet/server/retention/leftovers.h"
#include "fleet/server/uploads.h"

namespace attune::server {
namespace {

constexpr double kOftenSeconds = 1, kSeldomSeconds = 60;  // between two looks
constexpr std::size_t kForgottenAtOnce = 500;
// A machine whose clock is wrong often gets it right soon after it starts. That more time passed
// than this since anything happened may be so, and may be a wrong clock: then nothing is forgotten
// because of its age for a while.
constexpr double kLongTime = 86400, kPatienceSeconds = 3600;
// A worker may still be busy with a job that just ended.
constexpr double kSettledSeconds = 60;

}  // namespace

Caretaker::Caretaker(std::string state, jobs::Retention retention, EventLoop& loop,
                     Journal& journal, UnixClock clock, double newest, std::function<void()> looked)
    : state_(std::move(state)),
      retention_(retention),
      loop_(loop),
      journal_(journal),
      clock_(std::move(clock)),
      looked_(std::move(looked)),
      ages_count_from_(
          newest > 0 && clock_.now() - newest > kLongTime ? clock_.now() + kPatienceSeconds : 0),
      thread_([this] { run(); }) {}

Caretaker::~Caretaker() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->changed.notify_all();
  thread_.join();
}

void Caretaker::wake() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->woken = true;
  }
  shared_->changed.notify_all();
}

void Caretaker::run() {
  const auto pause = std::chrono::duration<double>(
      std::clamp(retention_.seconds / 10, kOftenSeconds, kSeldomSeconds));
  const std::chrono::duration<double> shortest(kOftenSeconds);
  for (;;) {
    look();
    if (looked_) looked_();
    std::unique_lock lock(shared_->mutex);
    // Whoever has much forgotten, a little at a time, is not the only one who wants the disk.
    shared_->changed.wait_for(lock, shortest, [&] { return shared_->stopping; });
    shared_->changed.wait_for(lock, pause - shortest,
                              [&] { return shared_->stopping || shared_->woken; });
    if (shared_->stopping) return;
    shared_->woken = false;
  }
}

bool Caretaker::may_judge_age() const {
  return clock_.now() >= ages_count_from_ && clock_.set_since() < kLongTime;
}

void Caretaker::look() {
  jobs::Retention retention = retention_;
  const bool ages = may_judge_age();
  if (!ages) retention.seconds = std::numeric_limits<double>::infinity();
  forget_overdue(retention);
  remove_folders();
  journal_.trim_stages(clock_.now() - retention.seconds, retention.stages);
  if (ages) remove_uploads(state_, UploadLimits().waiting_seconds);
  trim_logs(state_, retention.log_bytes, retention.seconds);
}

bool Caretaker::ask(const std::function<void(Turn&)>& act) {
  const auto written = std::make_shared<std::optional<bool>>();
  const bool heard = loop_.post([shared = shared_, act, written](Turn& turn) {
    {
      const std::lock_guard lock(shared->mutex);
      if (shared->stopping) return;  // nobody waits, and what `act` uses is gone
      act(turn);
    }
    turn.waiting.push_back([shared, written](const Status& status) {
      const std::lock_guard lock(shared->mutex);
      *written = status.ok();
      shared->changed.notify_all();
    });
  });
  std::unique_lock lock(shared_->mutex);
  if (heard) shared_->changed.wait(lock, [&] { return shared_->stopping || *written; });
  return written->value_or(false);
}

void Caretaker::forget_overdue(const jobs::Retention& retention) {
  std::vector<jobs::EndedJob> ended;
  if (!ask([&](Turn& turn) { ended = turn.book.ended_jobs(); })) return;
  const double now = clock_.now();
  std::map<std::string, std::uint64_t> known;
  for (jobs::EndedJob& job : ended) {
    const auto found = bytes_.find(job.id);
    const std::uint64_t folder =
        found != bytes_.end() ? found->second : folder_bytes(state_, job.id);
    if (now - job.ended_at > kSettledSeconds) known[job.id] = folder;
    job.bytes += folder;
  }
  bytes_ = std::move(known);
  const std::vector<std::string> all = jobs::overdue(std::move(ended), retention, now);
  for (std::size_t at = 0; at < all.size(); at += kForgottenAtOnce) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(at);
    const auto count = std::min(kForgottenAtOnce, all.size() - at);
    const std::vector<std::string> some(first, first + static_cast<std::ptrdiff_t>(count));
    if (!ask([&](Turn& turn) { turn.book.forget(some); })) return;
  }
}

void Caretaker::remove_folders() {
  const std::vector<std::string> there = job_folders(state_);
  std::vector<std::string> gone;
  if (!ask([&](Turn& turn) { gone = turn.book.forgotten(there); })) return;
  for (const std::string& job : gone) remove_job_folder(state_, job);
}

}  // namespace attune::server

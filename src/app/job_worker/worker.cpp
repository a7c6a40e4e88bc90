#include "app/job_worker/worker.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include "app/job_worker/job_tuning.h"
#include "base/version.h"
#include "fleet/client/client.h"
#include "fleet/server/core_groups.h"
#include "fleet/server/local_workers.h"
#include "fleet/wire/state_directory.h"
#include "fleet/worker/link.h"
#include "targets/kinds.h"

namespace attune::job_worker {
namespace {

// A job that the scheduler gave to this worker.
struct Assigned {
  client::JobStatus job;
  worker::Devices devices;
  JobWishes wishes = {};
  RemoteAdmission* admission = nullptr;  // while it is being tuned
  bool refused = false;                  // it is not ours any more, or something about it is wrong
  std::string why_refused = {};
  bool end_is_known = false;

  worker::Holding holding() const { return {job.id, job.epoch}; }
};

// Listens to the scheduler and does what it hears, job after job.
class Worker final : public worker::LinkEvents {
 public:
  Worker(std::string state, mode_t users_umask, const server::CoreGroups* groups)
      : state_(std::move(state)), users_umask_(users_umask), groups_(groups) {}

  // Until the line broke.
  void serve(worker::Link& link) {
    while (take_next()) tune(*current_, link);
  }

  void assigned(const client::JobStatus& job, const worker::Devices& devices) override {
    const std::lock_guard lock(mutex_);
    next_ = std::make_unique<Assigned>();
    next_->job = job;
    next_->devices = devices;
    changed_.notify_all();
  }
  void may_start(const worker::Holding& holding, std::int64_t stage,
                 const std::vector<int>& cores) override {
    const std::lock_guard lock(mutex_);
    Assigned* found = find(holding);
    if (found != nullptr && found->admission != nullptr) found->admission->may_start(stage, cores);
  }
  void wished(const worker::Holding& holding, client::Wish wish) override {
    const std::lock_guard lock(mutex_);
    if (Assigned* found = find(holding)) {
      (wish == client::Wish::Cancel ? found->wishes.dropped : found->wishes.enough) = true;
      wake(*found);
    }
  }
  void refused(const worker::Holding& holding, std::int64_t, const std::string& why) override {
    const std::lock_guard lock(mutex_);
    if (Assigned* found = find(holding)) {
      found->refused = true;
      found->why_refused = why;
      found->wishes.dropped = true;
      wake(*found);
    }
  }
  void known(const worker::Holding& holding, std::int64_t stage) override {
    const std::lock_guard lock(mutex_);
    Assigned* found = find(holding);
    if (found == nullptr || stage != worker::kOfEnded) return;
    found->end_is_known = true;
    changed_.notify_all();
  }
  void lost(const Error&) override {
    const std::lock_guard lock(mutex_);
    lost_ = true;
    changed_.notify_all();
    if (!current_) return;
    current_->wishes.dropped = true;
    wake(*current_);
  }

 private:
  Assigned* find(const worker::Holding& holding) {
    if (current_ && current_->holding() == holding) return current_.get();
    return next_ && next_->holding() == holding ? next_.get() : nullptr;
  }

  void wake(Assigned& assigned) {
    if (assigned.admission != nullptr) assigned.admission->wake();
    changed_.notify_all();
  }

  bool take_next() {
    std::unique_lock lock(mutex_);
    current_.reset();
    changed_.wait(lock, [&] { return next_ || lost_; });
    current_ = std::move(next_);
    return !lost_;
  }

  void tune(Assigned& assigned, worker::Link& link) {
    JobEnd end;
    {
      const client::JobRequest& request = assigned.job.request;
      RemoteAdmission admission(link, assigned.holding(), request.device, request.in_turn, groups_);
      listen_for(assigned, &admission);
      end = tune_job(assigned.job, assigned.devices, state_, users_umask_, link, admission,
                     assigned.wishes);
      listen_for(assigned, nullptr);
    }
    std::unique_lock lock(mutex_);
    if (lost_) return;
    // Where the job is still this worker's it must not wait for what will never be admitted; where
    // it is another's, this is refused as well.
    if (assigned.refused) {
      return link.ended(assigned.holding(), client::JobState::Failed,
                        "the scheduler refused a stage: " + assigned.why_refused, "");
    }
    link.ended(assigned.holding(), end.state, end.reason, end.report);
    changed_.wait(lock, [&] { return assigned.end_is_known || assigned.refused || lost_; });
  }

  void listen_for(Assigned& assigned, RemoteAdmission* admission) {
    const std::lock_guard lock(mutex_);
    assigned.admission = admission;
  }

  std::string state_;
  mode_t users_umask_;
  const server::CoreGroups* groups_;  // may be null
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<Assigned> current_, next_;
  bool lost_ = false;
};

}  // namespace

namespace {

// What it was handed in its environment, where its children are not to find it. One that was
// started by hand asks for one, and so does one whose scheduler was started anew.
std::string handed_token() {
  const char* token = std::getenv(server::kTokenName);
  std::string handed = token == nullptr ? "" : token;
  ::unsetenv(server::kTokenName);
  return handed;
}

Result<std::string> ask_for_token(const std::string& state, double patience_seconds) {
  return client::Client({.state = state, .patience_seconds = patience_seconds}).token(true);
}

// Those that this machine has, by what jobs call them: its own cores, and cards with a driver.
std::vector<std::string> devices_here() {
  std::vector<std::string> keys;
  for (const target::Kind* kind : targets::kinds()) {
    if (kind->devices_here != nullptr) {
      if (const auto found = kind->devices_here(); !found.ok() || found->empty()) continue;
    }
    if (std::find(keys.begin(), keys.end(), kind->device) == keys.end()) {
      keys.emplace_back(kind->device);
    }
  }
  return keys;
}

// What jobs of others name is not looked for among the files of whoever started this worker. The
// state and all that jobs name have whole paths.
Status leave_folder() {
  if (::chdir("/") == 0) return {};
  return Error{ErrorCode::Io, "cannot leave the working folder of the worker", ""};
}

}  // namespace

Status work(const WorkerOptions& options) {
  ATTUNE_ASSIGN(const std::string state, wire::state_directory(options.state));
  ATTUNE_RETURN_IF_ERROR(leave_folder());
  const mode_t users_umask = ::umask(077);
  worker::LinkOptions how{
      .state = state,
      .version = version(),
      .name = options.name.empty() ? fmt::format("worker-{}", ::getpid()) : options.name,
      .token = handed_token(),
      .devices = devices_here(),
      .patience_seconds = options.patience_seconds};
  const auto place = find_control_group("cpuset");
  const auto groups = place.ok() ? server::CoreGroups::around(*place) : nullptr;
  for (;;) {
    if (how.token.empty()) {
      ATTUNE_ASSIGN(how.token, ask_for_token(state, options.patience_seconds));
    }
    Worker worker(state, users_umask, groups.get());
    ATTUNE_ASSIGN(const std::unique_ptr<worker::Link> link, worker::Link::open(how, worker));
    how.token.clear();
    worker.serve(*link);
  }
}

}  // namespace attune::job_worker

#include "tuner/session/driver.h"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace attune::session {
namespace {

bool on_device(const Job& job) { return resource_of(job.stage) == Resource::Device; }

// The stages that run, each on a thread of its own.
class Running {
 public:
  struct Ended {
    Job job;
    Status status;
    double seconds = 0;
  };

  explicit Running(const Clock& clock) : clock_(clock) {}
  ~Running() {
    for (Lane& lane : lanes_) lane.thread.join();
  }

  int count(Resource resource) const {
    return static_cast<int>(std::count_if(lanes_.begin(), lanes_.end(), [&](const Lane& lane) {
      return resource_of(lane.job.stage) == resource;
    }));
  }
  bool none() const { return lanes_.empty(); }

  void start(Session& session, const Job& job) {
    session.begin(job.stage);
    Lane& lane = lanes_.emplace_back();
    lane.job = job;
    lane.thread = std::thread([this, &session, &lane, job] {
      const std::int64_t start_ns = clock_.now_ns();
      Status status = session.perform(job.stage);
      const double seconds = seconds_between(start_ns, clock_.now_ns());
      const std::lock_guard lock(mutex_);
      lane.ended = Ended{job, std::move(status), seconds};
      changed_.notify_all();
    });
  }

  Ended wait() {
    std::unique_lock lock(mutex_);
    auto done = lanes_.end();
    changed_.wait(lock, [&] {
      done = std::find_if(lanes_.begin(), lanes_.end(),
                          [](const Lane& lane) { return lane.ended.has_value(); });
      return done != lanes_.end();
    });
    Ended ended = std::move(*done->ended);
    lock.unlock();
    done->thread.join();
    lanes_.erase(done);
    return ended;
  }

 private:
  struct Lane {
    Job job;
    std::thread thread;
    std::optional<Ended> ended;
  };
  const Clock& clock_;
  std::mutex mutex_;  // guards what has ended
  std::condition_variable changed_;
  std::list<Lane> lanes_;
};

// How much longer than needed candidates are measured, so that the device is as busy as the host:
// where building takes longer than measuring, the time to spare goes into surer timings.
class Pace {
 public:
  explicit Pace(const Machine& machine) : machine_(machine) {}

  void host_worked(double seconds) { host_seconds_ += seconds / machine_.host_stages; }
  void device_worked(double seconds) {
    device_seconds_ += seconds;
    if (machine_.shared || device_seconds_ <= 0) return;
    stretch_ *= std::clamp(kAhead * host_seconds_ / device_seconds_, kSlower, kFaster);
    stretch_ = std::clamp(stretch_, 1.0, kMost);
    host_seconds_ *= kMemory;
    device_seconds_ *= kMemory;
  }
  double stretch() const { return stretch_; }

 private:
  static constexpr double kSlower = 0.7, kFaster = 2;  // of one step
  static constexpr double kAhead = 1.1;                // the host is to be done a little earlier
  static constexpr double kMost = 12;
  static constexpr double kMemory = 0.7;
  const Machine& machine_;
  double host_seconds_ = 0, device_seconds_ = 0;  // of late
  double stretch_ = 1;
};

class Driver {
 public:
  Driver(const std::vector<Session*>& sessions, Agenda& agenda, const Machine& machine,
         const Clock& clock)
      : sessions_(sessions), agenda_(agenda), machine_(machine), pace_(machine), running_(clock) {}

  void start_ready() {
    const std::vector<Job> ready = agenda_.ready();
    if (machine_.shared && running_.none()) {
      // The other kind has its turn only when nothing is left of this one.
      const bool more = std::any_of(ready.begin(), ready.end(),
                                    [&](const Job& job) { return on_device(job) == device_turn_; });
      if (!more) device_turn_ = !device_turn_;
    }
    for (const Job& job : ready) {
      if (!may_start(job)) continue;
      if (on_device(job)) sessions_[job.session]->stretch_timing(pace_.stretch());
      running_.start(*sessions_[job.session], job);
    }
  }

  bool idle() const { return running_.none(); }

  Status finish_one(Usage& usage) {
    Running::Ended ended = running_.wait();
    usage.seconds_of[static_cast<std::size_t>(ended.job.stage.kind)] += ended.seconds;
    if (on_device(ended.job)) {
      pace_.device_worked(ended.seconds);
    } else {
      pace_.host_worked(ended.seconds);
    }
    if (ended.status.ok()) agenda_.ended(ended.job, ended.seconds);
    return std::move(ended.status);
  }

 private:
  bool may_start(const Job& job) const {
    if (machine_.shared && on_device(job) != device_turn_) return false;
    return on_device(job) ? running_.count(Resource::Device) == 0
                          : running_.count(Resource::HostCores) < machine_.host_stages;
  }

  const std::vector<Session*>& sessions_;
  Agenda& agenda_;
  const Machine& machine_;
  Pace pace_;
  Running running_;
  bool device_turn_ = false;
};

}  // namespace

double Usage::search_seconds() const {
  return seconds_of[static_cast<std::size_t>(StageKind::Select)] +
         seconds_of[static_cast<std::size_t>(StageKind::Update)];
}

Status drive(const std::vector<Session*>& sessions, Agenda& agenda, const Machine& machine,
             const Clock& clock, const std::atomic<bool>* stop, Usage& usage) {
  const std::int64_t start_ns = clock.now_ns();
  Driver driver(sessions, agenda, machine, clock);
  Status failed;
  for (;;) {
    const bool stopping = !failed.ok() || (stop != nullptr && stop->load());
    if (!stopping) driver.start_ready();
    if (driver.idle()) break;
    if (Status status = driver.finish_one(usage); !status.ok() && failed.ok()) {
      failed = std::move(status);
    }
  }
  usage.wall_seconds += seconds_between(start_ns, clock.now_ns());
  return failed;
}

}  // namespace attune::session

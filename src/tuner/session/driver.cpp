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

Work work_of(const Job& job) {
  return {.kind = name_of(job.stage.kind),
          .resource = resource_of(job.stage),
          .owner = static_cast<std::int64_t>(job.session),
          .round = job.stage.round};
}

// What somebody waits for: rung from any thread, heard once.
class Bell {
 public:
  void ring() {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return rung_; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
};

// Has the bell rung by the grants for as long as it lives.
class Watching {
 public:
  Watching(Grants& grants, Bell& bell) : grants_(grants) {
    grants_.watch([&bell] { bell.ring(); });
  }
  ~Watching() { grants_.watch({}); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  Grants& grants_;
};

struct Ended {
  Work work;
  std::optional<Job> job = {};  // of a session
  Status status = {};
  double seconds = 0;
};

// On the thread that is to do it.
void perform(const std::function<Status()>& what, Grants& grants, const Clock& clock,
             Ended& ended) {
  const std::int64_t start_ns = clock.now_ns();
  ended.status = grants.enter(ended.work);
  if (ended.status.ok()) ended.status = what();
  ended.seconds = seconds_between(start_ns, clock.now_ns());
}

// What runs, each on a thread of its own.
class Running {
 public:
  Running(Grants& grants, const Clock& clock, Bell& bell)
      : grants_(grants), clock_(clock), bell_(bell) {}
  ~Running() {
    for (Lane& lane : lanes_) lane.thread.join();
  }

  bool none() const { return lanes_.empty(); }

  void start(const Work& work, std::optional<Job> job, std::function<Status()> what) {
    Lane& lane = lanes_.emplace_back();
    lane.ended.work = work;
    lane.ended.job = job;
    lane.thread = std::thread([this, &lane, what = std::move(what)] {
      perform(what, grants_, clock_, lane.ended);
      lane.done.store(true);
      bell_.ring();
    });
  }

  std::optional<Ended> take_ended() {
    const auto done = std::find_if(lanes_.begin(), lanes_.end(),
                                   [](const Lane& lane) { return lane.done.load(); });
    if (done == lanes_.end()) return std::nullopt;
    done->thread.join();
    Ended ended = std::move(done->ended);
    lanes_.erase(done);
    return ended;
  }

 private:
  struct Lane {
    std::thread thread;
    Ended ended;
    std::atomic<bool> done = false;
  };
  Grants& grants_;
  const Clock& clock_;
  Bell& bell_;
  std::list<Lane> lanes_;
};

class Driver {
 public:
  Driver(const std::vector<Session*>& sessions, Agenda& agenda, Grants& grants, const Clock& clock,
         std::vector<Errand> errands)
      : sessions_(sessions),
        agenda_(agenda),
        grants_(grants),
        errands_(std::move(errands)),
        watching_(grants, bell_),
        running_(grants, clock, bell_) {}

  // Whether more may come of what is ready, though nothing of it started.
  bool start_ready() {
    const std::vector<Job> jobs = agenda_.ready();
    std::vector<Work> ready;
    for (const Job& job : jobs) ready.push_back(work_of(job));
    for (const Errand& errand : errands_) ready.push_back(errand.work);
    if (ready.empty() && running_.none()) return false;
    for (const Work& work : grants_.choose(ready)) {
      const auto place = std::find(ready.begin(), ready.end(), work);
      CHECK(place != ready.end(), "what is granted was asked for");
      const auto index = static_cast<std::size_t>(place - ready.begin());
      if (index < jobs.size()) {
        start(work, jobs[index]);
      } else {
        start_errand(work);
      }
    }
    return true;
  }

  bool idle() const { return running_.none(); }
  void wait() { bell_.wait(); }

  // The first error of those that have ended.
  Status take_ended(Usage& usage) {
    Status failed;
    while (std::optional<Ended> ended = running_.take_ended()) {
      if (ended->job && sessions_[ended->job->session]->was_disturbed(ended->job->stage)) {
        grants_.disturbed(ended->work);
      }
      grants_.ended(ended->work, ended->seconds, ended->status);
      if (ended->job) {
        usage.seconds_of[static_cast<std::size_t>(ended->job->stage.kind)] += ended->seconds;
      }
      if (!ended->status.ok()) {
        if (failed.ok()) failed = std::move(ended->status);
      } else if (ended->job) {
        agenda_.ended(*ended->job, ended->seconds);
      }
    }
    return failed;
  }

 private:
  void start(const Work& work, const Job& job) {
    Session& session = *sessions_[job.session];
    if (work.resource == Resource::Device) {
      session.stretch_timing(grants_.timing_stretch());
      session.repeat_disturbed(grants_.disturbed_repeats());
    }
    session.begin(job.stage);
    running_.start(work, job, [&session, stage = job.stage] { return session.perform(stage); });
  }

  void start_errand(const Work& work) {
    const auto errand = std::find_if(errands_.begin(), errands_.end(),
                                     [&](const Errand& each) { return each.work == work; });
    running_.start(work, std::nullopt, std::move(errand->perform));
    errands_.erase(errand);
  }

  const std::vector<Session*>& sessions_;
  Agenda& agenda_;
  Grants& grants_;
  std::vector<Errand> errands_;  // that did not start yet
  Bell bell_;
  Watching watching_;
  Running running_;
};

}  // namespace

double Usage::search_seconds() const {
  return seconds_of[static_cast<std::size_t>(StageKind::Select)] +
         seconds_of[static_cast<std::size_t>(StageKind::Update)];
}

Usage& Usage::operator+=(const Usage& other) {
  wall_seconds += other.wall_seconds;
  for (std::size_t i = 0; i < kStageKinds; ++i) seconds_of[i] += other.seconds_of[i];
  return *this;
}

Status drive(const std::vector<Session*>& sessions, Agenda& agenda, Grants& grants,
             const Clock& clock, const std::atomic<bool>* stop, Usage& usage,
             std::vector<Errand> errands) {
  const std::int64_t start_ns = clock.now_ns();
  Driver driver(sessions, agenda, grants, clock, std::move(errands));
  Status failed;
  for (;;) {
    const bool stopping = !failed.ok() || (stop != nullptr && stop->load());
    const bool more = !stopping && driver.start_ready();
    if (driver.idle() && !more) break;
    driver.wait();
    if (Status status = driver.take_ended(usage); !status.ok() && failed.ok()) {
      failed = std::move(status);
    }
  }
  usage.wall_seconds += seconds_between(start_ns, clock.now_ns());
  return failed;
}

Status await_leave(const Work& work, Grants& grants, const std::atomic<bool>* stop) {
  Bell bell;
  const Watching watching(grants, bell);
  for (;;) {
    if (stop != nullptr && stop->load()) {
      return Error{ErrorCode::Exhausted, "stopped before its end", {}};
    }
    if (!grants.choose({work}).empty()) break;
    bell.wait();
  }
  Status entered = grants.enter(work);
  if (!entered.ok()) grants.ended(work, 0, entered);
  return entered;
}

}  // namespace attune::session

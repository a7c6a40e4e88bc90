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

// Has the bell rung by the admission for as long as it lives.
class Watching {
 public:
  Watching(Admission& admission, Bell& bell) : admission_(admission) {
    admission_.watch([&bell] { bell.ring(); });
  }
  ~Watching() { admission_.watch({}); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  Admission& admission_;
};

struct Ended {
  Work work;
  std::optional<Job> job = {};  // of a session
  Status status = {};
  double seconds = 0;
};

// On the thread that is to do it.
void perform(const std::function<Status()>& what, Admission& admission, const Clock& clock,
             Ended& ended) {
  const std::int64_t start_ns = clock.now_ns();
  ended.status = admission.enter(ended.work);
  if (ended.status.ok()) ended.status = what();
  ended.seconds = seconds_between(start_ns, clock.now_ns());
}

// What runs, each on a thread of its own.
class Running {
 public:
  Running(Admission& admission, const Clock& clock, Bell& bell)
      : admission_(admission), clock_(clock), bell_(bell) {}
  ~Running() {
    for (Lane& lane : lanes_) lane.thread.join();
  }

  bool none() const { return lanes_.empty(); }

  void start(const Work& work, std::optional<Job> job, std::function<Status()> what) {
    Lane& lane = lanes_.emplace_back();
    lane.ended.work = work;
    lane.ended.job = job;
    lane.thread = std::thread([this, &lane, what = std::move(what)] {
      perform(what, admission_, clock_, lane.ended);
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
  Admission& admission_;
  const Clock& clock_;
  Bell& bell_;
  std::list<Lane> lanes_;
};

class Driver {
 public:
  Driver(const std::vector<Session*>& sessions, Agenda& agenda, Admission& admission,
         const Clock& clock, std::vector<RunStage> run_stages)
      : sessions_(sessions),
        agenda_(agenda),
        admission_(admission),
        run_stages_(std::move(run_stages)),
        watching_(admission, bell_),
        running_(admission, clock, bell_) {}

  // Whether more may come of what is ready, though nothing of it started.
  bool start_ready() {
    const std::vector<Job> jobs = agenda_.ready();
    std::vector<Work> ready;
    for (const Job& job : jobs) ready.push_back(work_of(job));
    for (const RunStage& stage : run_stages_) ready.push_back(stage.work);
    if (ready.empty() && running_.none()) return false;
    for (const Work& work : admission_.choose(ready)) {
      const auto place = std::find(ready.begin(), ready.end(), work);
      CHECK(place != ready.end(), "what is admitted was asked for");
      const auto index = static_cast<std::size_t>(place - ready.begin());
      if (index < jobs.size()) {
        start(work, jobs[index]);
      } else {
        start_run_stage(work);
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
        admission_.disturbed(ended->work);
      }
      admission_.ended(ended->work, ended->seconds, ended->status);
      if (ended->job) {
        usage.seconds_of[static_cast<std::size_t>(ended->job->stage.kind)] += ended->seconds;
      } else {
        usage.run_seconds[std::string(ended->work.kind)] += ended->seconds;
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
      session.stretch_timing(admission_.timing_stretch());
      session.repeat_disturbed(admission_.disturbed_repeats());
    }
    session.begin(job.stage);
    running_.start(work, job, [&session, stage = job.stage] { return session.perform(stage); });
  }

  void start_run_stage(const Work& work) {
    const auto stage = std::find_if(run_stages_.begin(), run_stages_.end(),
                                    [&](const RunStage& each) { return each.work == work; });
    running_.start(work, std::nullopt, std::move(stage->perform));
    run_stages_.erase(stage);
  }

  const std::vector<Session*>& sessions_;
  Agenda& agenda_;
  Admission& admission_;
  std::vector<RunStage> run_stages_;  // that did not start yet
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
  for (const auto& [kind, seconds] : other.run_seconds) run_seconds[kind] += seconds;
  return *this;
}

Status drive(const std::vector<Session*>& sessions, Agenda& agenda, Admission& admission,
             const Clock& clock, const std::atomic<bool>* stop, Usage& usage,
             std::vector<RunStage> run_stages) {
  const std::int64_t start_ns = clock.now_ns();
  Driver driver(sessions, agenda, admission, clock, std::move(run_stages));
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

Status await_admission(const Work& work, Admission& admission, const std::atomic<bool>* stop) {
  Bell bell;
  const Watching watching(admission, bell);
  for (;;) {
    if (stop != nullptr && stop->load()) {
      return Error{ErrorCode::Exhausted, "stopped before its end", {}};
    }
    if (!admission.choose({work}).empty()) break;
    bell.wait();
  }
  Status entered = admission.enter(work);
  if (!entered.ok()) admission.ended(work, 0, entered);
  return entered;
}

}  // namespace attune::session

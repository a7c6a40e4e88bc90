// The server's decisions, on a clock of the test's own, while the scheduler is stopped and goes on
// (SIGSTOP, SIGCONT), workers are, the machine sleeps (its clock jumps), and the disk is slow. In
// every run all jobs finish, nothing that was acknowledged is lost, nothing counts twice, nothing
// is held twice, and only workers that deserve it are ended: those that were silent for a lease,
// and those whose stage is stuck. ATTUNE_STALL_SEEDS says how many runs of each (100).
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <set>
#include <tuple>

#include "base/rng.h"
#include "fleet/jobs/book/book_testing.h"
#include "fleet/server/turns.h"

namespace attune::server {
namespace {

using jobs::WorkerId;

constexpr int kJobs = 4, kStagesEach = 10, kWorkers = 3;
constexpr double kLease = 10, kBeat = 2, kFloor = 12;
constexpr double kStep = 0.05;  // of the simulated time
constexpr double kNever = 1e300;

// What goes wrong in a run.
struct Trouble {
  const char* name;
  bool scheduler_stops = false, workers_stop = false, sleeps = false, disk_is_slow = false;
  bool stages_hang = false;
};

jobs::BookOptions book_options(const Trouble& trouble) {
  jobs::BookOptions options = jobs::options("makespan");
  options.lease_seconds = kLease;
  options.beat_seconds = kBeat;
  options.limits = {.times_predicted = 2, .floor_seconds = kFloor, .most_tries = 3};
  if (trouble.workers_stop) options.limits.floor_seconds = 1000;  // which stops their stages, too
  options.settle_seconds = 0.002;
  return options;
}

// A worker. Its stage goes on while it is neither stopped nor asleep; its beats are late after a
// stop, but not after a sleep.
struct Process {
  double stopped_until = -1;
  bool for_long = false;  // it is stopped for more than a lease
  double beats_at = 0;
  std::string job = {};
  std::int64_t epoch = 0, stage = 0;
  double stage_left = -1;  // of its time; -1: runs nothing
  bool hangs = false;      // its stage does
  double hung_for = 0;     // of time in which the scheduler ran
  int stalls = 0;          // meanwhile
  int core = -1;
  std::deque<v1::ToWorker> heard = {};  // not read yet

  bool runs() const { return stage_left >= 0; }
};

class World {
 public:
  World(const Trouble& trouble, std::uint64_t seed)
      : trouble_(trouble), rng_(seed), turns_(make_book(), kLease, now_) {
    for (int i = 0; i < kWorkers; ++i) join();
  }

  // True when all jobs have ended.
  bool live() {
    for (int step = 0; step < 400'000 && !all_ended(); ++step) {
      now_ += kStep;
      disturb();
      write();
      for (auto& [id, process] : processes_) work(id, process);
      schedule();
    }
    return all_ended();
  }

  void check() const {
    for (const auto& [number, row] : disk_) {
      const v1::Job& job = row.job;
      EXPECT_EQ(job.state(), v1::DONE) << job.reason();
      EXPECT_EQ(store_.at(job.id()), kStagesEach) << "stages of " << job.id();
      const auto lost = lost_.find(job.id());
      EXPECT_EQ(job.epoch(), 1 + (lost == lost_.end() ? 0 : lost->second)) << job.id();
      EXPECT_EQ(job.strikes().crashed() + job.strikes().killed() + job.strikes().starved(), 0);
    }
    EXPECT_EQ(disk_.size(), static_cast<std::size_t>(kJobs));
    EXPECT_GT(hits_, 0) << "nothing went wrong while something ran";
  }
  int hits() const { return hits_; }

 private:
  jobs::Book make_book() {
    jobs::Book book(book_options(trouble_), {}, now_);
    for (int i = 0; i < kJobs; ++i) {
      EXPECT_TRUE(book.submit(jobs::kMe, jobs::request("job-" + std::to_string(i)), now_).ok());
    }
    return book;
  }

  // ---- what goes wrong

  // More than a lease, as the first time, about one, or a moment.
  double some_seconds() {
    const double luck = rng_.uniform();
    if (luck < 0.4 || hits_ == 0) return 11 + rng_.uniform() * 110;
    return luck < 0.7 ? 2 + rng_.uniform() * 7 : 0.2 + rng_.uniform();
  }
  bool something_runs() const {
    return std::any_of(processes_.begin(), processes_.end(),
                       [](const auto& each) { return each.second.runs(); });
  }
  void hit(double seconds) {
    hits_ += seconds > kLease && something_runs() ? 1 : 0;
    for (auto& [id, process] : processes_) ++process.stalls;
  }

  void disturb() {
    if (now_ < next_trouble_ || (hits_ == 0 && !something_runs())) return;
    next_trouble_ = now_ + rng_.uniform() * 6;
    if (trouble_.scheduler_stops && now_ >= stopped_until_) stop_scheduler();
    if (trouble_.workers_stop) stop_worker();
    if (trouble_.sleeps && (hits_ == 0 || rng_.chance(0.5))) {
      const double seconds = some_seconds() * (rng_.chance(0.2) ? 300 : 1);
      now_ += seconds;
      next_trouble_ += seconds;
      if (stopped_until_ > 0) stopped_until_ += seconds;
      if (written_at_ < kNever) written_at_ += seconds;
      for (auto& [id, process] : processes_) process.beats_at += seconds;
      hit(seconds);
    }
    if (trouble_.disk_is_slow && written_at_ == kNever) slow_write_ = some_seconds();
    if (trouble_.stages_hang) hang_one();
  }
  // Sometimes it is stopped again before it could do much.
  void stop_scheduler() {
    const double seconds = some_seconds();
    stopped_until_ = now_ + seconds;
    next_trouble_ =
        stopped_until_ + (rng_.chance(0.3) ? kStep * (1 + rng_.uniform() * 2) : rng_.uniform() * 6);
    hit(seconds);
  }
  // For clearly less than a lease, or for more.
  void stop_worker() {
    auto chosen = processes_.begin();
    std::advance(chosen, static_cast<long>(rng_.below(processes_.size())));
    Process& process = chosen->second;
    if (now_ < process.stopped_until) return;
    process.for_long = rng_.chance(0.3);
    process.stopped_until = now_ + (process.for_long ? 3 * kLease : 0.5 + rng_.uniform() * 6);
    hits_ += process.runs() ? 1 : 0;
  }
  void hang_one() {
    for (auto& [id, process] : processes_) {
      if (!process.runs() || process.hangs || hung_[process.job] == 2) continue;
      process.hangs = true;
      process.hung_for = 0;
      process.stalls = 0;
      process.stage_left = kNever;
      ++hung_[process.job];
      ++hits_;
      return;
    }
  }

  // ---- workers

  void join() {
    const WorkerId id = next_worker_++;
    processes_[id] = {};
    inbox_.push_back([id](Turn& turn) { turn.book.joined(id, jobs::kLocal, turn.now); });
    say(id, jobs::hello());
  }
  void say(WorkerId id, const v1::FromWorker& message) {
    inbox_.push_back([id, message](Turn& turn) { turn.book.said(id, message, turn.now); });
  }

  void work(WorkerId id, Process& process) {
    if (now_ < process.stopped_until) return;
    EXPECT_FALSE(process.for_long) << "it was silent for three leases and lives";
    for (; !process.heard.empty(); process.heard.pop_front()) hear(id, process);
    if (now_ >= process.beats_at) {
      process.beats_at = now_ + kBeat;
      say(id, jobs::beat());
    }
    if (!process.runs()) return;
    process.stage_left -= kStep;
    if (process.stage_left <= 0) finish(id, process);
  }

  void finish(WorkerId id, Process& process) {
    process.stage_left = -1;
    ++store_[process.job];
    say(id, jobs::finished(process.job, process.epoch, process.stage));
    ++process.stage;
    go_on(id, process);
  }
  void go_on(WorkerId id, const Process& process) {
    const int done = store_[process.job];
    say(id, done == kStagesEach ? jobs::ended(process.job, process.epoch, v1::DONE)
                                : jobs::offer(process.job, process.epoch, process.stage, done % 2));
  }

  void hear(WorkerId id, Process& process) {
    const v1::ToWorker& message = process.heard.front();
    if (message.has_assign()) {
      process.job = message.assign().job().id();
      process.epoch = message.assign().job().epoch();
      process.stage = 1;
      say(id, jobs::kinds(process.job, process.epoch));
      go_on(id, process);
    } else if (message.has_start()) {
      ASSERT_EQ(message.start().stage(), process.stage);
      process.core = message.start().cores(0);
      for (const auto& [other_id, other] : processes_) {
        EXPECT_FALSE(other_id != id && other.runs() && other.core == process.core) << "held twice";
      }
      for (const auto& [when, other, core] : ending_) EXPECT_NE(core, process.core);
      process.stage_left = 0.1 + rng_.uniform() * 3;
    } else if (message.has_known()) {
      const v1::Known& known = message.known();
      if (known.stage() > 0) {
        EXPECT_TRUE(stages_.count({known.job(), known.epoch(), known.stage()})) << "lost";
      }
      if (known.stage() == -1) process.job.clear();
    } else if (message.has_refused()) {
      ADD_FAILURE() << "refused: " << message.refused().why();
    }
  }

  // ---- the scheduler

  void schedule() {
    if (now_ < stopped_until_) {
      was_stopped_ = true;
      return;
    }
    for (auto& [id, process] : processes_) process.hung_for += process.hangs ? kStep : 0;
    std::vector<Event> events;
    // Of what waits since it was stopped the loop may not hear at once.
    if (!std::exchange(was_stopped_, false) || rng_.chance(0.5)) events.swap(inbox_);
    for (const auto& [when, id, core] : ending_) {
      if (now_ < when) continue;
      const WorkerId ended = id;
      events.push_back([ended](Turn& turn) { turn.book.process_ended(ended, {}, turn.now); });
    }
    std::erase_if(ending_, [&](const auto& each) { return now_ >= std::get<0>(each); });
    if (events.empty() && now_ < turns_.next_at(looked_at_)) return;
    looked_at_ = now_;
    const double busy = written_at_ < kNever ? now_ - written_since_ : 0;
    carry_out(turns_.take(events, now_, {.serving = true, .disk_busy_seconds = busy}));
  }

  void carry_out(Turns::Decision decision) {
    jobs::Effects& effects = decision.effects;
    for (const WorkerId id : effects.kill) end(id);
    for (const WorkerId id : effects.close) processes_.erase(id);
    for (const jobs::Message& message : effects.messages) {
      if (!message.acknowledges) deliver(message);
    }
    unwritten_.push_back(std::move(effects));
    while (processes_.size() < kWorkers) join();
  }
  void deliver(const jobs::Message& message) {
    const auto found = processes_.find(message.worker);
    if (found != processes_.end()) found->second.heard.push_back(message.what);
  }

  // Whoever is ended must deserve it.
  void end(WorkerId id) {
    const Process& process = processes_.at(id);
    EXPECT_TRUE(process.for_long || process.hangs) << "worker " << id << " lived and is punished";
    if (process.hangs && !process.for_long) {
      EXPECT_GE(process.hung_for, kFloor - 3.5) << "less what the stage ran before";
      // With each stall the time since the last look is forgotten.
      EXPECT_LE(process.hung_for, kFloor + 1.5 + 0.6 * process.stalls);
    }
    std::string job = process.job;
    for (const v1::ToWorker& message : process.heard) {
      if (message.has_assign()) job = message.assign().job().id();
      if (message.has_known() && message.known().stage() == -1) job.clear();
    }
    if (!job.empty()) ++lost_[job];
    ending_.emplace_back(now_ + rng_.uniform() * 0.3, id, process.runs() ? process.core : -1);
    processes_.erase(id);
  }

  // ---- its disk; the thread that writes is stopped with the scheduler

  void write() {
    if (now_ < stopped_until_) return;
    if (written_at_ == kNever && !unwritten_.empty()) {
      writing_.swap(unwritten_);
      written_since_ = now_;
      const bool slow = slow_write_ > 0 && something_runs();
      if (slow) hit(slow_write_);
      written_at_ = now_ + (slow ? std::exchange(slow_write_, 0.0) : kStep);
    }
    if (now_ < written_at_) return;
    written_at_ = kNever;
    for (const jobs::Effects& effects : std::exchange(writing_, {})) {
      for (const jobs::JobRow& row : effects.jobs) disk_[row.number] = row;
      for (const jobs::StageRow& row : effects.stages) {
        EXPECT_TRUE(stages_.emplace(row.bar.job(), row.epoch, row.stage).second) << "twice";
      }
      for (const jobs::Message& message : effects.messages) {
        if (message.acknowledges) deliver(message);
      }
    }
  }

  bool all_ended() const {
    return disk_.size() == kJobs && std::all_of(disk_.begin(), disk_.end(), [](const auto& each) {
             return each.second.job.state() >= v1::DONE;
           });
  }

  const Trouble trouble_;
  Rng rng_;
  double now_ = 1000;
  Turns turns_;
  double looked_at_ = now_, stopped_until_ = -1, next_trouble_ = now_ + 1;
  bool was_stopped_ = false;
  std::map<WorkerId, Process> processes_;
  WorkerId next_worker_ = 1;
  std::vector<Event> inbox_;
  std::vector<std::tuple<double, WorkerId, int>> ending_;  // when, who, on which core
  std::deque<jobs::Effects> unwritten_, writing_;
  double written_since_ = 0, written_at_ = kNever, slow_write_ = 0;
  std::map<std::int64_t, jobs::JobRow> disk_;
  std::set<std::tuple<std::string, std::int64_t, std::int64_t>> stages_;
  std::map<std::string, int> store_;  // the workers' own, by job
  std::map<std::string, int> lost_, hung_;
  int hits_ = 0;
};

class Stalls : public ::testing::TestWithParam<Trouble> {};

TEST_P(Stalls, PunishNobodyWhoLives) {
  const char* text = std::getenv("ATTUNE_STALL_SEEDS");
  const int seeds = text == nullptr ? 100 : std::atoi(text);
  for (int seed = 0; seed < seeds && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    World world(GetParam(), static_cast<std::uint64_t>(seed));
    ASSERT_TRUE(world.live()) << "the jobs do not end";
    world.check();
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Stalls,
                         testing::Values(Trouble{.name = "TheScheduler", .scheduler_stops = true},
                                         Trouble{.name = "Workers", .workers_stop = true},
                                         Trouble{.name = "TheMachine", .sleeps = true},
                                         Trouble{.name = "TheDisk", .disk_is_slow = true},
                                         Trouble{.name = "AllButWorkers",
                                                 .scheduler_stops = true,
                                                 .sleeps = true,
                                                 .disk_is_slow = true},
                                         Trouble{.name = "StagesAndTheScheduler",
                                                 .scheduler_stops = true,
                                                 .sleeps = true,
                                                 .stages_hang = true}),
                         [](const auto& trouble) { return std::string(trouble.param.name); });

}  // namespace
}  // namespace attune::server

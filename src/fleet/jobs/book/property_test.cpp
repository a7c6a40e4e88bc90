// The book in a world where everything breaks: workers die, hang and lose their connection, the
// scheduler itself is killed with writes under way; workers elsewhere live on and come back, and
// processes take their time to end. Checks that a device is never held twice, that what was
// acknowledged is on the disk, that nothing is counted twice and that all jobs finish.
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <tuple>

#include "base/rng.h"
#include "fleet/jobs/book/book_testing.h"
#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {
namespace {

constexpr int kJobs = 6, kStagesEach = 24, kWorkers = 4;
constexpr double kLease = 10;

BookOptions options(const Policy& policy) {
  return {.pools = {{"host", {{0}}}, {"cpu", {{1}}}},
          .policy = &policy,
          .version = "1",
          .lease_seconds = kLease,
          .settle_seconds = 0.002};
}

struct Process {
  bool local = true, hangs = false;
  double notices_at = -1;  // that its connection is gone; -1: it is there
  bool comes_back = false;
  std::vector<v1::FromWorker> unknown = {};  // results that were not said to be known
  std::string job = {};
  std::int64_t epoch = 0, stage = 0;
  double stage_ends = -1;  // -1: runs nothing
  int core = -1;
};

// A process that was killed and has not ended yet.
struct Ending {
  WorkerId id = 0;
  int core = -1;
  double until = 0;
};

struct Commit {
  Effects effects;
};

class World {
 public:
  World(std::uint64_t seed, const Policy& policy) : rng_(seed), policy_(policy) {
    book_.emplace(options(policy_), std::vector<JobRow>(), now_);
    for (int i = 0; i < kJobs; ++i) {
      v1::SubmitRequest request;
      request.mutable_spec()->set_model("m");
      request.set_idempotency_key(std::to_string(i));
      EXPECT_TRUE(book_->submit(kMe, request, now_).ok());
    }
    carry_out();
    commit_all();  // the client was answered
  }

  void chaos() {
    while (static_cast<int>(processes_.size()) < kWorkers) join();
    now_ += rng_.uniform() * 0.4;
    if (rng_.chance(0.02)) kill_one();
    if (rng_.chance(0.01)) hang_one();
    if (rng_.chance(0.01)) cut_one();
    if (rng_.chance(0.005)) restart();
    if (rng_.chance(0.02)) pause_one();
    live();
    if (rng_.chance(0.6)) commit_all();
  }

  void calm() {
    while (static_cast<int>(processes_.size()) < kWorkers) join();
    now_ += 0.2;
    for (int i = 1; i <= kJobs; ++i) wish("j" + std::to_string(i), v1::RESUME);
    live();
    commit_all();
  }

  bool all_ended() const {
    for (int i = 1; i <= kJobs; ++i) {
      const auto found = disk_.find(i);
      if (found == disk_.end() || found->second.job.state() < v1::DONE) return false;
    }
    return true;
  }

  void check_end() const {
    std::map<std::string, std::int64_t> kept;
    for (const auto& [job, epoch, stage] : stages_) ++kept[job];
    for (const auto& [number, row] : disk_) {
      EXPECT_EQ(row.job.state(), v1::DONE) << row.job.reason();
      std::int64_t counted = 0;
      for (const std::int64_t done : row.job.stages_done()) counted += done;
      EXPECT_EQ(counted, kept[row.job.id()]);
      EXPECT_EQ(store_.at(row.job.id()), kStagesEach);
    }
  }
  std::int64_t longest_epoch() const {
    std::int64_t longest = 0;
    for (const auto& [number, row] : disk_) longest = std::max(longest, row.job.epoch());
    return longest;
  }
  int came_back() const { return came_back_; }
  int lingered() const { return lingered_; }

 private:
  void join() {
    const WorkerId id = next_worker_++;
    processes_[id] = {.local = rng_.chance(0.7)};
    book_->joined(id, processes_[id].local ? kLocal : kElsewhere, now_);
    book_->said(id, hello(), now_);
    carry_out();
  }

  WorkerId any() {
    auto it = processes_.begin();
    std::advance(it, static_cast<long>(rng_.below(processes_.size())));
    return it->first;
  }
  void kill_one() {
    const WorkerId id = any();
    if (!processes_.at(id).local) processes_.erase(id);
    book_->left(id, now_);
    carry_out();
  }
  // Most at once, some stay in the kernel for a while, with what they ran on.
  void begin_to_end(WorkerId id) {
    const auto found = processes_.find(id);
    if (found == processes_.end()) return;
    Ending ending{.id = id, .core = found->second.stage_ends >= 0 ? found->second.core : -1};
    if (rng_.chance(0.3)) {
      ending.until = now_ + rng_.uniform() * 3 * kLease;
      ++lingered_;
    }
    processes_.erase(found);
    ending_.push_back(ending);
  }
  void let_them_end() {
    for (const Ending& ending : ending_) {
      if (now_ < ending.until) continue;
      book_->process_ended(ending.id, {}, now_);
    }
    std::erase_if(ending_, [&](const Ending& ending) { return now_ >= ending.until; });
  }
  void hang_one() { processes_.at(any()).hangs = true; }
  // Elsewhere a process goes on for a while before it notices.
  void cut_one() {
    const WorkerId id = any();
    Process& process = processes_.at(id);
    if (process.local || process.hangs || process.notices_at >= 0) return;
    process.notices_at = now_ + rng_.uniform() * kLease * 0.9;
    process.comes_back = rng_.chance(0.5);
    book_->left(id, now_);
    carry_out();
  }
  // Local workers end with their scheduler, others notice some time later.
  void restart() {
    pending_.clear();
    ending_.clear();
    std::erase_if(processes_,
                  [](const auto& each) { return each.second.local || each.second.hangs; });
    for (auto& [id, process] : processes_) {
      if (process.notices_at >= 0) continue;
      process.notices_at = now_ + rng_.uniform() * kLease * 0.9;
      process.comes_back = rng_.chance(0.7);
    }
    std::vector<JobRow> rows;
    for (const auto& [number, row] : disk_) rows.push_back(row);
    book_.emplace(options(policy_), rows, now_);
    book_->recall(kept_);
  }
  void pause_one() {
    const std::string job = "j" + std::to_string(1 + rng_.below(kJobs));
    wish(job, rng_.chance(0.3) ? v1::PAUSE : v1::RESUME);
  }
  void wish(const std::string& job, v1::Wish wish) {
    v1::ControlRequest request;
    request.set_job(job);
    request.set_wish(wish);
    (void)book_->control(kMe, request, now_);
    carry_out();
  }

  void live() {
    std::vector<WorkerId> ids;
    for (const auto& [id, process] : processes_) ids.push_back(id);
    for (const WorkerId id : ids) {
      const auto found = processes_.find(id);
      if (found == processes_.end() || found->second.hangs) continue;
      Process& process = found->second;
      if (process.notices_at >= 0) {
        if (process.stage_ends >= 0 && now_ >= process.stage_ends) finish(id, process);
        if (now_ >= process.notices_at) notice(id);
        continue;
      }
      book_->said(id, beat(), now_);
      if (process.stage_ends >= 0 && now_ >= process.stage_ends) finish(id, process);
      carry_out();
    }
    book_->time_passed(now_);
    carry_out();
    let_them_end();
    carry_out();
  }

  // The connection is gone: the process ends, or comes back with its job.
  void notice(WorkerId old) {
    Process process = processes_.at(old);
    processes_.erase(old);
    if (!process.comes_back || process.job.empty()) return;
    process.notices_at = -1;
    const WorkerId id = next_worker_++;
    processes_[id] = process;
    book_->joined(id, kElsewhere, now_);
    v1::FromWorker again = hello();
    v1::Holding& holding = *again.mutable_hello()->add_holds();
    holding.set_job(process.job);
    holding.set_epoch(process.epoch);
    book_->said(id, again, now_);
    say_kinds(id, process);
    for (const v1::FromWorker& message : process.unknown) book_->said(id, message, now_);
    if (process.stage_ends < 0) say_what_is_next(id, process);
    ++came_back_;
    carry_out();
  }

  // A worker keeps its result first, then it says so, and what comes next.
  void finish(WorkerId id, Process& process) {
    ++store_[process.job];
    process.stage_ends = -1;
    v1::FromWorker message;
    v1::Finished& finished = *message.mutable_finished();
    finished.set_job(process.job);
    finished.set_epoch(process.epoch);
    finished.set_stage(process.stage);
    finished.set_seconds(0.5);
    ++process.stage;
    process.unknown.push_back(message);
    if (process.notices_at >= 0) return;  // nobody hears it
    book_->said(id, message, now_);
    if (rng_.chance(0.05)) book_->said(id, message, now_);  // said twice
    say_what_is_next(id, process);
  }

  void say_what_is_next(WorkerId id, const Process& process) {
    v1::FromWorker message;
    if (store_[process.job] == kStagesEach) {
      message.mutable_ended()->set_job(process.job);
      message.mutable_ended()->set_epoch(process.epoch);
      message.mutable_ended()->set_state(v1::DONE);
    } else {
      message.mutable_offer()->set_job(process.job);
      message.mutable_offer()->set_epoch(process.epoch);
      message.mutable_offer()->set_stage(process.stage);
      message.mutable_offer()->set_kind(store_[process.job] % 2);
    }
    book_->said(id, message, now_);
  }

  void say_kinds(WorkerId id, const Process& process) {
    v1::FromWorker kinds;
    kinds.mutable_kinds()->set_job(process.job);
    kinds.mutable_kinds()->set_epoch(process.epoch);
    for (const char* pool : {"host", "cpu"}) {
      v1::StageKind& kind = *kinds.mutable_kinds()->add_kinds();
      kind.set_name(pool);
      kind.set_pool(pool);
      kind.set_amount(1);
      kind.set_usual_seconds(1);
      kind.set_left((kStagesEach - store_[process.job]) / 2);
    }
    book_->said(id, kinds, now_);
  }

  void carry_out() {
    Effects effects = book_->settle(now_);
    for (const WorkerId id : effects.kill) begin_to_end(id);
    for (const Message& message : effects.messages) {
      if (!message.acknowledges) deliver(message);
    }
    for (const WorkerId id : effects.close) processes_.erase(id);
    pending_.push_back({std::move(effects)});
  }

  void commit_all() {
    while (!pending_.empty()) {
      const Commit commit = std::move(pending_.front());
      pending_.pop_front();
      for (const JobRow& row : commit.effects.jobs) disk_[row.number] = row;
      for (const StageRow& row : commit.effects.stages) {
        EXPECT_TRUE(stages_.emplace(row.bar.job(), row.epoch, row.stage).second) << "twice";
        kept_.push_back(row);
      }
      for (const Message& message : commit.effects.messages) {
        if (message.acknowledges) deliver(message);
      }
    }
  }

  void deliver(const Message& message) {
    if (message.what.has_known() && message.what.known().stage() > 0) {
      const v1::Known& known = message.what.known();
      EXPECT_TRUE(stages_.count({known.job(), known.epoch(), known.stage()})) << "lost";
    }
    const auto found = processes_.find(message.worker);
    if (found == processes_.end() || found->second.notices_at >= 0) return;
    Process& process = found->second;
    if (message.what.has_assign()) {
      process.job = message.what.assign().job().id();
      process.epoch = message.what.assign().job().epoch();
      process.stage = 1;
      process.unknown.clear();
      say_kinds(message.worker, process);
      say_what_is_next(message.worker, process);
    } else if (message.what.has_start()) {
      start(process, message.what.start());
    } else if (message.what.has_known()) {
      hear_what_is_known(process, message.what.known());
    } else if (message.what.has_refused() && message.what.refused().job() == process.job) {
      forget_job(process);  // it is another's by now
    }
  }

  void hear_what_is_known(Process& process, const v1::Known& known) {
    if (known.job() != process.job || known.epoch() != process.epoch) return;
    std::erase_if(process.unknown, [&](const v1::FromWorker& message) {
      return message.finished().stage() == known.stage();
    });
    if (known.stage() == -1) forget_job(process);
  }
  static void forget_job(Process& process) {
    process.job.clear();
    process.unknown.clear();
    process.stage_ends = -1;
  }

  void start(Process& process, const v1::Start& start) {
    ASSERT_EQ(start.job(), process.job);
    ASSERT_EQ(start.epoch(), process.epoch);
    if (start.stage() != process.stage || process.stage_ends >= 0) return;  // said again
    for (const auto& [id, other] : processes_) {
      const bool clashes = other.stage_ends >= 0 && !other.hangs && other.core == start.cores(0);
      EXPECT_FALSE(clashes) << "core " << start.cores(0) << " is held twice";
    }
    for (const Ending& ending : ending_) {
      EXPECT_NE(ending.core, start.cores(0)) << "a process that has not ended still has it";
    }
    process.stage_ends = now_ + 0.2 + rng_.uniform() * 2;
    process.core = start.cores(0);
  }

  Rng rng_;
  const Policy& policy_;
  double now_ = 1000;
  std::optional<Book> book_;
  std::map<WorkerId, Process> processes_;
  WorkerId next_worker_ = 1;
  std::vector<Ending> ending_;
  int lingered_ = 0;
  std::deque<Commit> pending_;
  std::map<std::int64_t, JobRow> disk_;
  std::set<std::tuple<std::string, std::int64_t, std::int64_t>> stages_;
  std::vector<StageRow> kept_;
  std::map<std::string, int> store_;  // the workers' own, by job
  int came_back_ = 0;
};

class Breaking : public testing::TestWithParam<const char*> {};

TEST_P(Breaking, NothingIsHeldTwiceLostOrCountedTwiceAndAllJobsFinish) {
  std::int64_t longest = 0;
  int came_back = 0, lingered = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    World world(seed, **find_policy(GetParam()));
    for (int step = 0; step < 600; ++step) world.chaos();
    for (int step = 0; step < 4000 && !world.all_ended(); ++step) world.calm();
    ASSERT_TRUE(world.all_ended());
    world.check_end();
    longest = std::max(longest, world.longest_epoch());
    came_back += world.came_back();
    lingered += world.lingered();
  }
  EXPECT_GT(longest, 3);  // or nothing broke
  EXPECT_GT(came_back, 20);
  EXPECT_GT(lingered, 20);
}

INSTANTIATE_TEST_SUITE_P(Policies, Breaking,
                         testing::Values("sequential", "fair", "greedy-bundled", "makespan",
                                         "latency", "fair-share"));

}  // namespace
}  // namespace attune::jobs

// A scheduler that is killed at random points while workers work for it: what it acknowledged is
// there afterwards, nothing is counted twice, no resource is held twice or stays held, and all jobs
// finish. The workers live on, and go on with what they have. ATTUNE_KILL_POINTS says how often
// (5), ATTUNE_KILL_SEED where. The workers only pretend to tune: each stage takes some
// milliseconds.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

#include "base/rng.h"
#include "base/temporary_directory_testing.h"
#include "base/version.h"
#include "fleet/client/client.h"
#include "fleet/server/state_file.h"
#include "fleet/server/worker_connection.h"
#include "fleet/wire/state_directory.h"
#include "tests/support/background_process.h"

namespace attune {
namespace {

using namespace std::chrono_literals;
constexpr int kJobs = 8, kWorkers = 4;
// However busy the machine and its disk are; a test that hangs is ended from outside.
constexpr double kPatienceSeconds = 3600;

std::int64_t setting(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

// What the workers did and were told, and what they would keep in stores of their own.
struct Ledger {
  std::mutex mutex;
  std::map<std::string, int> done;  // stages, by job
  std::set<std::tuple<std::string, std::int64_t, std::int64_t>> known;
  std::set<std::string> known_ended;
  std::map<std::string, std::set<std::int64_t>> given;  // epochs of jobs that a worker was given
  std::array<int, 2> holders = {};                      // of the host and of the device, now
  int most_holders = 0;
};

// Says now and then that the worker lives, as all workers do, until it goes.
class Beats {
 public:
  explicit Beats(server::WorkerConnection& connection)
      : thread_([this, &connection] { run(connection); }) {}
  ~Beats() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void run(server::WorkerConnection& connection) {
    v1::FromWorker beat;
    beat.mutable_beat();
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, 500ms, [&] { return ending_; })) connection.send(beat);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;
};

class FakeTuner {
 public:
  FakeTuner(std::string state, int stages, Ledger& ledger, std::uint64_t seed)
      : state_(std::move(state)), stages_(stages), ledger_(ledger), rng_(seed) {
    thread_ = std::thread([this] { run(); });
  }
  void stop() { stopping_ = true; }
  ~FakeTuner() { thread_.join(); }

 private:
  void run() {
    while (!stopping_) {
      std::vector<v1::Job> holds;
      if (!job_.id().empty()) holds.push_back(job_);
      // Who has a job comes back by that.
      const Result<std::string> token =
          holds.empty() ? client::Client({.state = state_, .patience_seconds = 0}).token(true)
                        : Result<std::string>("");
      if (token.ok()) {
        server::WorkerConnection connection(state_, version(), *token, holds);
        const Beats beats(connection);
        if (!job_.id().empty()) say_again(connection);
        v1::ToWorker message;
        while (!stopping_ && connection.read(message)) hear(connection, message);
        connection.cut();
      }
      std::this_thread::sleep_for(5ms);
    }
  }

  void hear(server::WorkerConnection& connection, const v1::ToWorker& message) {
    if (message.has_assign()) {
      job_ = message.assign().job();
      stage_ = 1;
      unknown_.clear();
      note_epoch();
      connection.send_kinds(job_, (stages_ - done()) / 2);
      go_on(connection);
    } else if (message.has_start() && message.start().stage() == stage_) {
      const int kind = done() % 2;
      hold(kind, 1);
      std::this_thread::sleep_for(std::chrono::microseconds(1000 + rng_.below(6000)));
      hold(kind, -1);
      {
        const std::lock_guard lock(ledger_.mutex);
        ++ledger_.done[job_.id()];
      }
      unknown_.insert(stage_);
      connection.finish(job_, stage_++, 0.005);
      go_on(connection);
    } else if (message.has_known()) {
      const v1::Known& known = message.known();
      const std::lock_guard lock(ledger_.mutex);
      if (known.stage() > 0) ledger_.known.emplace(known.job(), known.epoch(), known.stage());
      unknown_.erase(known.stage());
      if (known.stage() == -1) {
        ledger_.known_ended.insert(known.job());
        job_.Clear();
      }
    }
  }

  void say_again(server::WorkerConnection& connection) {
    connection.send_kinds(job_, (stages_ - done()) / 2);
    for (const std::int64_t stage : unknown_) connection.finish(job_, stage, 0.005);
    go_on(connection);
  }

  void go_on(server::WorkerConnection& connection) {
    if (done() >= stages_) {
      connection.end(job_, v1::DONE);
    } else {
      connection.offer(job_, stage_, done() % 2);
    }
  }

  int done() {
    const std::lock_guard lock(ledger_.mutex);
    return ledger_.done[job_.id()];
  }
  void hold(int kind, int change) {
    const std::lock_guard lock(ledger_.mutex);
    int& holders = ledger_.holders[static_cast<std::size_t>(kind)];
    holders += change;
    ledger_.most_holders = std::max(ledger_.most_holders, holders);
  }
  void note_epoch() {
    const std::lock_guard lock(ledger_.mutex);
    ledger_.given[job_.id()].insert(job_.epoch());
  }

  std::string state_;
  int stages_;
  Ledger& ledger_;
  Rng rng_;
  v1::Job job_;
  std::int64_t stage_ = 0;          // the next
  std::set<std::int64_t> unknown_;  // stages that are done and not said to be known
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

class KilledScheduler : public ::testing::Test {
 protected:
  void start() {
    scheduler_ = std::make_unique<test::BackgroundProcess>(
        std::vector<std::string>{test::attune_program(), "scheduler", "--state", state(),
                                 "--workers", "0", "--policy", "makespan"},
        std::map<std::string, std::string>());
    ASSERT_TRUE(scheduler_->wait_for_error_text("serving"));
  }
  void kill() {
    scheduler_->send_signal(SIGKILL);
    EXPECT_EQ(scheduler_->finish().status, 128 + SIGKILL);
  }
  std::string state() const { return directory_.file("state"); }

  // The scheduler may be killed before, after or while it answers.
  std::string submit(int number) {
    client::Client client({.state = state(), .patience_seconds = kPatienceSeconds});
    client::JobRequest request;
    request.model = "pretended";
    request.name = fmt::format("job-{}", number);
    const auto submitted = client.submit(request, fmt::format("key-{}", number));
    EXPECT_TRUE(submitted.ok()) << submitted.error().message;
    return submitted.ok() ? submitted->job.id : "";
  }

  void wait_for_all() {
    client::Client client({.state = state(), .patience_seconds = kPatienceSeconds});
    const auto ended = [](const auto& job) { return client::has_ended(job.state); };
    client::Overview last;
    const Status watched = client.watch("", 0, [&](const client::Overview& overview) {
      last = overview;
      return !std::all_of(last.jobs.begin(), last.jobs.end(), ended);
    });
    ASSERT_TRUE(watched.ok()) << watched.error().message;
    ASSERT_EQ(last.jobs.size(), static_cast<std::size_t>(kJobs));
    for (const auto& pool : last.pools) EXPECT_EQ(pool.used, 0) << pool.name << " stays held";
  }

  void check(const Ledger& ledger, const std::map<int, std::string>& ids) {
    const auto file = server::StateFile::open_to_read(wire::database_path(state()));
    ASSERT_TRUE(file.ok()) << file.error().message;
    const std::vector<jobs::JobRow> rows = *file->read_jobs();
    const std::vector<jobs::StageRow> kept = *file->read_stages();
    ASSERT_EQ(rows.size(), static_cast<std::size_t>(kJobs));
    std::set<std::tuple<std::string, std::int64_t, std::int64_t>> stages;
    std::map<std::string, std::int64_t> counts;
    for (const jobs::StageRow& row : kept) {
      EXPECT_TRUE(stages.emplace(row.bar.job(), row.epoch, row.stage).second);
      ++counts[row.bar.job()];
    }
    for (const auto& known : ledger.known) EXPECT_TRUE(stages.count(known)) << "lost";
    for (const jobs::JobRow& row : rows) {
      EXPECT_EQ(row.job.state(), v1::DONE) << row.job.reason();
      // Killed before it could say so, the scheduler may have given it to nobody at first.
      EXPECT_EQ(ledger.given.at(row.job.id()), std::set{row.job.epoch()})
          << "its worker was always there";
      EXPECT_EQ(row.job.stages_done(0) + row.job.stages_done(1), counts[row.job.id()]);
    }
    for (const auto& [number, id] : ids) {
      EXPECT_EQ(rows.at(std::stoul(id.substr(1)) - 1).job.spec().name(),
                fmt::format("job-{}", number));
    }
    EXPECT_EQ(ledger.known_ended.size(), static_cast<std::size_t>(kJobs));
    EXPECT_EQ(ledger.most_holders, 1) << "a resource was held twice";
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<test::BackgroundProcess> scheduler_;
};

TEST_F(KilledScheduler, LosesNothingThatItAcknowledged) {
  const auto points = setting("ATTUNE_KILL_POINTS", 5);
  Rng rng(static_cast<std::uint64_t>(setting("ATTUNE_KILL_SEED", 1)));
  const int stages = static_cast<int>(20 + 4 * points);
  Ledger ledger;
  start();
  std::map<int, std::string> ids;
  std::thread clients([&] {
    for (int i = 0; i < kJobs; ++i) {
      ids[i] = submit(i);
      EXPECT_EQ(submit(i), ids[i]);  // said again, after who knows what happened
    }
  });
  {
    std::vector<std::unique_ptr<FakeTuner>> tuners;
    for (int i = 0; i < kWorkers; ++i) {
      tuners.push_back(std::make_unique<FakeTuner>(state(), stages, ledger, rng.next()));
    }
    for (std::int64_t point = 0; point < points; ++point) {
      std::this_thread::sleep_for(std::chrono::milliseconds(rng.below(200)));
      kill();
      start();
    }
    clients.join();
    wait_for_all();
    for (auto& tuner : tuners) tuner->stop();
    scheduler_->send_signal(SIGTERM);
    EXPECT_EQ(scheduler_->finish().status, 0);
  }
  check(ledger, ids);
}

}  // namespace
}  // namespace attune

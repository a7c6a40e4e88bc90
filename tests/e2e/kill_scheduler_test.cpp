// A scheduler that is killed, or stopped for longer than a lease, at random points while workers
// work for it: what it acknowledged is there afterwards, nothing is counted twice, no resource is
// held twice or stays held, no worker loses its job, and all jobs finish. ATTUNE_KILL_POINTS and
// ATTUNE_STOP_POINTS say how often (5 and 1), ATTUNE_KILL_SEED where. The workers only pretend to
// tune, and each time one of them is in the middle of something.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <tuple>

#include "base/rng.h"
#include "base/temporary_directory_testing.h"
#include "fleet/client/client.h"
#include "fleet/server/state_file.h"
#include "fleet/wire/state_directory.h"
#include "tests/support/background_process.h"
#include "tests/support/fake_tuner.h"

namespace attune {
namespace {

using namespace std::chrono_literals;
constexpr int kJobs = 8, kWorkers = 4;
constexpr auto kLease = 10s;  // of a scheduler's workers
// However busy the machine and its disk are; a test that hangs is ended from outside.
constexpr double kPatienceSeconds = 3600;

std::int64_t setting(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

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

  void check(const test::Ledger& ledger, const std::map<int, std::string>& ids) {
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

  // Jobs of so many stages while `disturb` is called; waits for them, and compares.
  void work_through(int stages, std::uint64_t seed, const std::function<void()>& disturb) {
    start();
    std::map<int, std::string> ids;
    std::thread clients([&] {
      for (int i = 0; i < kJobs; ++i) {
        ids[i] = submit(i);
        EXPECT_EQ(submit(i), ids[i]);  // said again, after who knows what happened
      }
    });
    {
      Rng rng(seed);
      std::vector<std::unique_ptr<test::FakeTuner>> tuners;
      for (int i = 0; i < kWorkers; ++i) {
        tuners.push_back(std::make_unique<test::FakeTuner>(state(), stages, ledger_, rng.next()));
      }
      disturb();
      clients.join();
      wait_for_all();
      // The scheduler shows the end of a job to all before it answers its worker.
      ledger_.wait_for_known_ended(kJobs);
      for (auto& tuner : tuners) tuner->stop();
      scheduler_->send_signal(SIGTERM);
      EXPECT_EQ(scheduler_->finish().status, 0);
    }
    check(ledger_, ids);
  }
  // Until somebody runs a stage or waits for an answer; false when all jobs have ended.
  bool wait_for_the_middle() {
    while (!ledger_.is_in_the_middle()) {
      const std::lock_guard lock(ledger_.mutex);
      if (ledger_.known_ended.size() == kJobs) return false;
    }
    return true;
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<test::BackgroundProcess> scheduler_;
  test::Ledger ledger_;
};

TEST_F(KilledScheduler, LosesNothingThatItAcknowledged) {
  const auto points = setting("ATTUNE_KILL_POINTS", 5);
  Rng rng(static_cast<std::uint64_t>(setting("ATTUNE_KILL_SEED", 1)));
  work_through(static_cast<int>(30 + 12 * points), rng.next(), [&] {
    for (std::int64_t point = 0; point < points; ++point) {
      std::this_thread::sleep_for(std::chrono::milliseconds(rng.below(200)));
      ASSERT_TRUE(wait_for_the_middle()) << "point " << point << " hits nothing";
      kill();
      start();
    }
  });
}

// For longer than a lease: nobody is thought lost because they were not heard.
TEST_F(KilledScheduler, StoppedForALongTimeTakesNothingFromAnybody) {
  const auto points = setting("ATTUNE_STOP_POINTS", 1);
  Rng rng(static_cast<std::uint64_t>(setting("ATTUNE_KILL_SEED", 2)));
  work_through(static_cast<int>(30 + 12 * points), rng.next(), [&] {
    for (std::int64_t point = 0; point < points; ++point) {
      std::this_thread::sleep_for(std::chrono::milliseconds(rng.below(200)));
      ASSERT_TRUE(wait_for_the_middle()) << "point " << point << " hits nothing";
      scheduler_->send_signal(SIGSTOP);
      std::this_thread::sleep_for(kLease + std::chrono::milliseconds(500 + rng.below(2000)));
      // Again and again, before it could hear everybody.
      for (std::uint64_t again = rng.below(4); again > 0; --again) {
        scheduler_->send_signal(SIGCONT);
        std::this_thread::sleep_for(std::chrono::microseconds(rng.below(20'000)));
        scheduler_->send_signal(SIGSTOP);
        std::this_thread::sleep_for(std::chrono::milliseconds(1100 + rng.below(1000)));
      }
      scheduler_->send_signal(SIGCONT);
    }
  });
}

}  // namespace
}  // namespace attune

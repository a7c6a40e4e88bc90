// Jobs of a real scheduler with real workers, undisturbed and with processes that are killed or
// stopped at random points while they work: nothing that was acknowledged is lost, nothing counts
// twice, and all jobs finish. ATTUNE_KILL_POINTS says how often (2 of each), ATTUNE_STOP_POINTS
// how often workers are stopped (1), ATTUNE_KILL_SEED where.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <thread>

#include "base/rng.h"
#include "base/temporary_directory_testing.h"
#include "fleet/client/client.h"
#include "fleet/server/state_file.h"
#include "fleet/wire/state_directory.h"
#include "tests/support/background_process.h"
#include "tests/support/process.h"
#include "tuner/records/store.h"

namespace attune {
namespace {

// However busy the machine and its disk are; a test that hangs is ended from outside.
constexpr double kPatienceSeconds = 3600;

std::int64_t setting(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

std::vector<records::Record> records_in(const std::string& path) {
  auto store = records::open_sqlite_store_for_reading(path);
  if (!store.ok()) {
    ADD_FAILURE() << store.error().message;
    return {};
  }
  auto all = (*store)->list({});
  EXPECT_TRUE(all.ok());
  return all.ok() ? *all : std::vector<records::Record>();
}

// A scheduler with its state and the user's records in a directory of its own.
class Site {
 public:
  // With further options of the scheduler.
  explicit Site(std::vector<std::string> options = {"--workers", "2"})
      : options_(std::move(options)),
        client_({.state = state(), .patience_seconds = kPatienceSeconds}) {
    start();
  }

  // In order, so that nothing of it stays behind.
  ~Site() {
    scheduler_->send_signal(SIGTERM);
    (void)scheduler_->finish();
  }

  void start() {
    std::vector<std::string> words = {test::attune_program(), "scheduler", "--state", state()};
    words.insert(words.end(), options_.begin(), options_.end());
    scheduler_ = std::make_unique<test::BackgroundProcess>(words, environment());
    EXPECT_TRUE(scheduler_->wait_for_error_text("serving"));
  }
  // A worker that is not the scheduler's own, and outlives it.
  std::unique_ptr<test::BackgroundProcess> start_worker() const {
    return std::make_unique<test::BackgroundProcess>(
        std::vector<std::string>{test::attune_program(), "worker", "--state", state()},
        environment());
  }
  void kill_scheduler() {
    scheduler_->send_signal(SIGKILL);
    (void)scheduler_->finish();
  }
  // A job that a worker has, some time after the first trials of one; nothing when all have ended.
  std::optional<client::JobStatus> one_in_the_middle(Rng& rng) {
    wait_until_one([](const auto& job) { return job.trials > 0; });
    std::this_thread::sleep_for(std::chrono::milliseconds(rng.below(1500)));
    std::vector<client::JobStatus> held = jobs();
    std::erase_if(
        held, [](const auto& job) { return job.worker.empty() || client::has_ended(job.state); });
    if (held.empty()) return std::nullopt;
    return held[rng.below(held.size())];
  }
  // The worker that has a job; false when it has ended.
  static bool signal_worker(const client::JobStatus& job, int signal) {
    const int pid = std::atoi(job.worker.c_str() + std::string("worker-").size());
    EXPECT_GT(pid, 0) << job.worker;
    return pid > 0 && ::kill(pid, signal) == 0;
  }

  void submit(std::vector<std::string> words, int threads = 1) const {
    words.insert(words.begin(), {test::attune_program(), "submit"});
    words.insert(words.end(),
                 {"--threads", std::to_string(threads), "--state", state(), "--records", store()});
    const test::ProcessResult result = test::run_process(words, environment());
    ASSERT_EQ(result.status, 0) << result.errors;
  }

  std::vector<client::JobStatus> jobs() {
    auto overview = client_.list("", false);
    EXPECT_TRUE(overview.ok()) << overview.error().message;
    return overview.ok() ? overview->jobs : std::vector<client::JobStatus>();
  }
  std::vector<client::JobStatus> wait_for_the_end() {
    return wait_until([](const auto& job) { return client::has_ended(job.state); });
  }
  // For one job to be so, or all to have ended.
  void wait_until_one(const std::function<bool(const client::JobStatus&)>& is_so) {
    const Status status = client_.watch("", 0, [&](const client::Overview& overview) {
      const auto& all = overview.jobs;
      return std::none_of(all.begin(), all.end(), [&](const auto& job) {
        return is_so(job) || client::has_ended(job.state);
      });
    });
    EXPECT_TRUE(status.ok()) << status.error().message;
  }
  // For all jobs to be so.
  std::vector<client::JobStatus> wait_until(
      const std::function<bool(const client::JobStatus&)>& is_so) {
    std::vector<client::JobStatus> last;
    const Status status = client_.watch("", 0, [&](const client::Overview& overview) {
      last = overview.jobs;
      return !std::all_of(last.begin(), last.end(), is_so);
    });
    EXPECT_TRUE(status.ok()) << status.error().message;
    return last;
  }

  std::string state() const { return directory_.file("state"); }
  std::string store() const { return directory_.file("records.db"); }
  std::string file(const std::string& name) const { return directory_.file(name); }

 private:
  std::map<std::string, std::string> environment() const {
    return {{"XDG_DATA_HOME", directory_.path().string()}};
  }

  test::TemporaryDirectory directory_;
  std::vector<std::string> options_;
  client::Client client_;
  std::unique_ptr<test::BackgroundProcess> scheduler_;
};

// Each trial of the jobs once in their own stores, and the same once in the user's.
void expect_nothing_lost_or_doubled(const Site& site, const std::vector<client::JobStatus>& jobs,
                                    std::int64_t trials) {
  std::size_t own = 0;
  for (const client::JobStatus& job : jobs) {
    EXPECT_EQ(job.state, client::JobState::Done) << job.id << ": " << job.reason;
    EXPECT_EQ(job.trials, trials) << job.id;
    std::set<std::pair<records::SessionId, std::int64_t>> numbers;
    const auto records = records_in(wire::job_path(site.state(), job.id) + "/records.db");
    for (const records::Record& record : records) {
      EXPECT_TRUE(numbers.insert({record.session, record.number}).second)
          << "candidate " << record.number << " of " << job.id << " was recorded twice";
    }
    own += records.size();
  }
  const std::vector<records::Record> merged = records_in(site.store());
  EXPECT_EQ(merged.size(), own);
}

TEST(Scheduler, FinishesAnOperatorAndAModel) {
  Site site;
  site.submit({"matmul:m=64,n=64,k=64", "--trials", "30", "--name", "product"});
  site.submit({"mlp", "--trials", "10", "--name", "net", "-o", site.file("mlp.attune")});
  const std::vector<client::JobStatus> jobs = site.wait_for_the_end();
  ASSERT_EQ(jobs.size(), 2U);
  for (const client::JobStatus& job : jobs) {
    EXPECT_EQ(job.state, client::JobState::Done) << job.reason;
    EXPECT_TRUE(job.best_ms.has_value());
    EXPECT_GT(job.trials, 0);
  }
  EXPECT_TRUE(std::filesystem::exists(site.file("mlp.attune")));
  const auto run = test::run_process({test::attune_program(), "run", site.file("mlp.attune")});
  EXPECT_EQ(run.status, 0) << run.errors;
  // What the records hold already is not tuned again.
  site.submit({"matmul:m=64,n=64,k=64", "--until-latency", "1s", "--name", "again"});
  const std::vector<client::JobStatus> after = site.wait_for_the_end();
  const auto again = std::find_if(after.begin(), after.end(),
                                  [](const auto& job) { return job.request.name == "again"; });
  ASSERT_NE(again, after.end());
  EXPECT_EQ(again->state, client::JobState::Done) << again->reason;
  EXPECT_EQ(again->trials, 0);
  EXPECT_EQ(again->epoch, 0) << "a worker was needed";
}

// What is done to a process while a job is worked on; false when it came too late.
using Disturb = std::function<bool(Site& site, const client::JobStatus& job, Rng& rng)>;

// Each point must hit a job that is worked on: one that comes too late is tried again.
void disturb_at_random_points(const char* points, std::int64_t otherwise, std::uint64_t seed,
                              const Disturb& disturb) {
  Rng rng(static_cast<std::uint64_t>(setting("ATTUNE_KILL_SEED", static_cast<int>(seed))));
  int late = 0;
  for (std::int64_t point = 0; point < setting(points, otherwise);) {
    SCOPED_TRACE(fmt::format("point {}", point));
    Site site;
    site.submit({"matmul:m=64,n=64,k=64", "--trials", "40", "--history", "none"});
    site.submit({"matmul:m=48,n=64,k=64", "--trials", "40", "--history", "none"});
    const std::optional<client::JobStatus> job = site.one_in_the_middle(rng);
    const bool hit = job && disturb(site, *job, rng);
    const std::vector<client::JobStatus> jobs = site.wait_for_the_end();
    ASSERT_EQ(jobs.size(), 2U) << "what was acknowledged is known";
    expect_nothing_lost_or_doubled(site, jobs, 40);
    if (hit) ++point;
    late += hit ? 0 : 1;
    ASSERT_LE(late, 10 + 2 * point) << "most come too late";
  }
}

// Of a job that was disturbed, how often it was taken up since.
std::int64_t taken_up_since(Site& site, const client::JobStatus& before) {
  for (const client::JobStatus& job : site.wait_for_the_end()) {
    if (job.id == before.id) return job.epoch - before.epoch;
  }
  return -1;
}

// On more threads than there are measuring cores.
TEST(Scheduler, AWideJobIsMeasuredOnAllCoresWhileTheHostIsQuiet) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two cores";
  Site site({"--workers", "2", "--host-cores", "0", "--profile-cores", "1"});
  site.submit({"mlp", "--trials", "10", "--history", "none", "--name", "wide", "-o",
               site.file("wide.attune")},
              2);
  site.submit({"matmul:m=64,n=64,k=64", "--trials", "60", "--history", "none"});
  const std::vector<client::JobStatus> jobs = site.wait_for_the_end();
  ASSERT_EQ(jobs.size(), 2U);
  for (const client::JobStatus& job : jobs) {
    EXPECT_EQ(job.state, client::JobState::Done) << job.reason;
    EXPECT_GT(job.trials, 0);
  }
  const auto file = server::StateFile::open_to_read(wire::database_path(site.state()));
  ASSERT_TRUE(file.ok()) << file.error().message;
  const std::vector<jobs::StageRow> stages = *file->read_stages();
  int wide = 0, others = 0;
  for (const jobs::StageRow& stage : stages) {
    if (stage.bar.pool() != "cpu") continue;
    const bool is_wide = stage.bar.job() == jobs[0].id;
    (is_wide ? wide : others) += 1;
    for (const jobs::StageRow& other : stages) {
      if (!is_wide || other.bar.pool() != "host") continue;
      EXPECT_TRUE(other.bar.ended_at() <= stage.bar.started_at() ||
                  other.bar.started_at() >= stage.bar.ended_at())
          << other.bar.kind() << " of " << other.bar.job() << " ran beside " << stage.bar.kind();
    }
  }
  EXPECT_GT(wide, 0);
  EXPECT_GT(others, 0);
}

TEST(Scheduler, AWorkerThatOutlivesItGoesOnWithItsJob) {
  Site site({"--workers", "0"});
  const auto worker = site.start_worker();
  site.submit({"matmul:m=64,n=64,k=64", "--trials", "40", "--history", "none"});
  site.wait_until([](const auto& job) { return job.trials > 0; });
  site.kill_scheduler();
  site.start();
  const std::vector<client::JobStatus> jobs = site.wait_for_the_end();
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].epoch, 1) << "it was loaded anew";
  expect_nothing_lost_or_doubled(site, jobs, 40);
}

TEST(Scheduler, OutlivesItsWorkers) {
  disturb_at_random_points("ATTUNE_KILL_POINTS", 2, 3, [](Site& site, const auto& job, Rng&) {
    if (!Site::signal_worker(job, SIGKILL)) return false;
    const std::int64_t again = taken_up_since(site, job);
    EXPECT_LE(again, 1);
    return again == 1;  // else it had just ended
  });
}

TEST(Scheduler, GoesOnAfterItWasKilled) {
  disturb_at_random_points("ATTUNE_KILL_POINTS", 2, 4, [](Site& site, const auto& job, Rng&) {
    site.kill_scheduler();
    site.start();
    return taken_up_since(site, job) == 1;
  });
}

// For less than a lease: it keeps its job.
TEST(Scheduler, AWorkerThatStoodStillForAWhileGoesOn) {
  disturb_at_random_points("ATTUNE_STOP_POINTS", 1, 5, [](Site& site, const auto& job, Rng& rng) {
    if (!Site::signal_worker(job, SIGSTOP)) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2000 + rng.below(4000)));
    const std::vector<client::JobStatus> now = site.jobs();
    const bool still = std::any_of(now.begin(), now.end(), [&](const auto& each) {
      return each.id == job.id && each.worker == job.worker && !client::has_ended(each.state);
    });
    Site::signal_worker(job, SIGCONT);
    EXPECT_EQ(taken_up_since(site, job), 0) << "it lives";
    return still;
  });
}

// For more than one: another goes on with its job, and nothing counts twice.
TEST(Scheduler, AWorkerThatStandsStillIsReplaced) {
  disturb_at_random_points("ATTUNE_STOP_POINTS", 1, 6, [](Site& site, const auto& job, Rng&) {
    if (!Site::signal_worker(job, SIGSTOP)) return false;
    return taken_up_since(site, job) == 1;
  });
}

}  // namespace
}  // namespace attune

#include "fleet/server/local_workers.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/temporary_directory_testing.h"

namespace attune::server {
namespace {

using test::TemporaryDirectory;
using Cause = jobs::WorkerDeath::Cause;

// A program that only lives, and says so by a file named after it, with its token.
std::vector<std::string> idle_program(const std::string& folder) {
  return {"/bin/sh", "-c",
          "echo $ATTUNE_TOKEN > " + folder + "/new-$$; mv " + folder + "/new-$$ " + folder +
              "/up-$$; exec sleep 1000"};
}

std::string token_of(const std::string& folder, int pid) {
  std::string token;
  std::ifstream(folder + "/up-" + std::to_string(pid)) >> token;
  return token;
}

std::vector<int> up(const std::string& folder) {
  std::vector<int> pids;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("up-")) pids.push_back(std::stoi(name.substr(3)));
  }
  return pids;
}

void wait_until(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// What was said of workers that ended.
class Deaths {
 public:
  std::function<void(jobs::WorkerId, const jobs::WorkerDeath&)> listener() {
    return [this](jobs::WorkerId worker, const jobs::WorkerDeath& death) {
      const std::lock_guard lock(mutex_);
      deaths_[worker] = death;
    };
  }
  bool has(jobs::WorkerId worker) {
    const std::lock_guard lock(mutex_);
    return deaths_.count(worker) != 0;
  }
  jobs::WorkerDeath wait_for(jobs::WorkerId worker) {
    wait_until([&] { return has(worker); });
    const std::lock_guard lock(mutex_);
    return deaths_.at(worker);
  }

 private:
  std::mutex mutex_;
  std::map<jobs::WorkerId, jobs::WorkerDeath> deaths_;
};

TEST(LocalWorkers, AreReplacedWhenTheyEndAndDieWithTheirOwner) {
  const TemporaryDirectory folder;
  Deaths deaths;
  std::vector<int> pids;
  {
    LocalWorkers workers({.command = idle_program(folder.path()),
                          .count = 2,
                          .log_folder = folder.path(),
                          .died = deaths.listener()});
    workers.start();
    wait_until([&] { return up(folder.path()).size() == 2; });
    pids = up(folder.path());
    const std::string token = token_of(folder.path(), pids[0]);
    EXPECT_EQ(token.size(), 64u);
    EXPECT_TRUE(workers.adopt(7, token));
    EXPECT_FALSE(workers.adopt(8, token)) << "it was said before";
    EXPECT_FALSE(workers.adopt(8, ""));
    EXPECT_FALSE(workers.adopt(8, std::to_string(pids[1]))) << "a process number is no token";
    EXPECT_TRUE(workers.kill(7));
    EXPECT_EQ(deaths.wait_for(7).cause, Cause::None) << "it was our wish";
    EXPECT_FALSE(workers.kill(7)) << "it has ended";
    wait_until([&] { return up(folder.path()).size() == 3; });
    workers.set_extra(1);
    wait_until([&] { return up(folder.path()).size() == 4; });
    pids = up(folder.path());
  }
  for (const int pid : pids) EXPECT_NE(::kill(pid, 0), 0) << pid;
}

// A worker that does one thing when it is told to, as worker 1.
class OneEnds : public ::testing::Test {
 protected:
  jobs::WorkerDeath end_by(const std::string& shell, LocalWorkersOptions options = {}) {
    const std::string told = folder_.file("told"), go = folder_.file("go");
    EXPECT_EQ(::mkfifo(told.c_str(), 0600), 0);
    EXPECT_EQ(::mkfifo(go.c_str(), 0600), 0);
    options.command = {"/bin/sh", "-c",
                       "echo $ATTUNE_TOKEN > " + told + "; read x < " + go + "; " + shell};
    options.count = 1;
    options.log_folder = folder_.path();
    options.died = deaths_.listener();
    LocalWorkers workers(options);
    workers.start();
    std::string token;
    std::ifstream(told) >> token;
    EXPECT_TRUE(workers.adopt(1, token));
    std::ofstream(go) << "\n";
    const jobs::WorkerDeath death = deaths_.wait_for(1);
    wait_until([&] { return !workers.kill(1); });  // it has ended
    return death;
  }

  const TemporaryDirectory folder_;
  Deaths deaths_;
};

TEST_F(OneEnds, ByACrash) {
  const jobs::WorkerDeath death = end_by("kill -SEGV $$");
  EXPECT_EQ(death.cause, Cause::Crashed);
  EXPECT_EQ(death.how, "signal 11");
}

TEST_F(OneEnds, WithAnError) {
  const jobs::WorkerDeath death = end_by("exit 3");
  EXPECT_EQ(death.cause, Cause::Crashed);
  EXPECT_EQ(death.how, "exit status 3");
}

TEST_F(OneEnds, InOrder) { EXPECT_EQ(end_by("exit 0").cause, Cause::None); }

TEST_F(OneEnds, BySomebodysHand) {
  const jobs::WorkerDeath death = end_by("kill -KILL $$");
  EXPECT_EQ(death.cause, Cause::Killed);
  EXPECT_EQ(death.how, "signal 9");
  EXPECT_GT(death.peak_bytes, 100'000) << "a shell has that much";
  EXPECT_LT(death.peak_bytes, 1'000'000'000);
}

TEST_F(OneEnds, ByTheSystemWhenItsCountSaysSo) {
  std::atomic<int> asked = 0;
  LocalWorkersOptions options;
  options.memory_kills = [&] { return std::optional<std::int64_t>(asked++ == 0 ? 7 : 8); };
  EXPECT_EQ(end_by("kill -KILL $$", options).cause, Cause::Starved);
}

// By the kernel itself, in a group that has little memory.
TEST_F(OneEnds, WhenItEatsTheMemory) {
  const std::string group = "/sys/fs/cgroup/memory/attune-test-" + std::to_string(::getpid());
  if (::mkdir(group.c_str(), 0700) != 0) {
    GTEST_SKIP() << "needs the right to make memory groups of version 1";
  }
  std::ofstream(group + "/memory.limit_in_bytes") << (48 << 20) << std::flush;
  const jobs::WorkerDeath death =
      end_by("echo $$ > " + group + "/cgroup.procs; exec tail /dev/zero");
  EXPECT_EQ(death.cause, Cause::Starved) << death.how;
  EXPECT_GT(death.peak_bytes, 20'000'000);
  EXPECT_LT(death.peak_bytes, 100'000'000);
  wait_until([&] { return ::rmdir(group.c_str()) == 0; });
}

// Workers that idle, the first of which is killed and does not end.
class Lingering : public ::testing::Test {
 protected:
  void start(LocalWorkersOptions options) {
    options.command = idle_program(folder_.path());
    options.count = 1;
    options.log_folder = folder_.path();
    options.slow_seconds = 0.05;
    options.died = deaths_.listener();
    options.note = [this](const std::string& note) {
      const std::lock_guard lock(mutex_);
      notes_.push_back(note);
    };
    workers_.emplace(options);
    workers_->start();
    wait_until([&] { return up(folder_.path()).size() == 1; });
    first_ = up(folder_.path())[0];
    ASSERT_TRUE(workers_->adopt(1, token_of(folder_.path(), first_)));
  }
  void expect_that_it_lingers() {
    ASSERT_TRUE(workers_->kill(1));  // returns at once
    wait_until([&] { return up(folder_.path()).size() == 2; });
    EXPECT_FALSE(deaths_.has(1)) << "it has not ended";
    EXPECT_TRUE(workers_->kill(1)) << "it is known";
    const std::lock_guard lock(mutex_);
    ASSERT_EQ(notes_.size(), 1u);
    EXPECT_EQ(notes_[0], "worker 0 (process " + std::to_string(first_) +
                             ") was killed and does not end; what it runs on waits for it, all "
                             "else goes on");
  }

  const TemporaryDirectory folder_;
  Deaths deaths_;
  std::mutex mutex_;
  std::vector<std::string> notes_;
  int first_ = 0;
  std::optional<LocalWorkers> workers_;
};

TEST_F(Lingering, OneIsReplacedAndReportedWhenItHasEnded) {
  start({.kill_group = [](int) {}});
  expect_that_it_lingers();
  ASSERT_EQ(::kill(first_, SIGKILL), 0);
  EXPECT_EQ(deaths_.wait_for(1).cause, Cause::None) << "by our wish";
}

TEST_F(Lingering, OneIsLeftBehindInTheEnd) {
  start({.kill_group = [](int) {}});
  const int first = first_;
  workers_.reset();
  EXPECT_NE(notes_.back().find("it is left behind"), std::string::npos);
  ASSERT_EQ(::kill(first, SIGKILL), 0);
}

// The kernel does not end what a freezer of version 1 holds.
TEST_F(Lingering, AFrozenOneIsWaitedForByNobody) {
  const std::string group = "/sys/fs/cgroup/freezer/attune-test-" + std::to_string(::getpid());
  if (::mkdir(group.c_str(), 0700) != 0) {
    GTEST_SKIP() << "needs the right to make freezer groups of version 1";
  }
  start({});
  std::ofstream(group + "/cgroup.procs") << first_ << std::flush;
  std::ofstream(group + "/freezer.state") << "FROZEN" << std::flush;
  expect_that_it_lingers();
  std::ofstream(group + "/freezer.state") << "THAWED" << std::flush;
  EXPECT_EQ(deaths_.wait_for(1).cause, Cause::None);
  workers_.reset();
  wait_until([&] { return ::rmdir(group.c_str()) == 0; });
}

TEST(LocalWorkers, AFailingOneIsSpokenOf) {
  const TemporaryDirectory folder;
  std::mutex mutex;
  std::vector<std::string> notes;
  {
    LocalWorkers workers({.command = {"/bin/sh", "-c", "exit 3"},
                          .count = 1,
                          .log_folder = folder.path(),
                          .quick_seconds = 3600,
                          .note = [&](const std::string& note) {
                            const std::lock_guard lock(mutex);
                            notes.push_back(note);
                          }});
    workers.start();
    wait_until([&] {
      const std::lock_guard lock(mutex);
      return notes.size() == 2;
    });
  }
  EXPECT_NE(notes[0].find("(exit status 3), the next starts in 0.1 s"), std::string::npos);
  EXPECT_NE(notes[1].find("the next starts in 0.2 s"), std::string::npos);
}

}  // namespace
}  // namespace attune::server

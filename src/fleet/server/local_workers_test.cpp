#include "fleet/server/local_workers.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <thread>

#include "base/temporary_directory_testing.h"

namespace attune::server {
namespace {

using test::TemporaryDirectory;

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

TEST(LocalWorkers, AreReplacedWhenTheyEndAndDieWithTheirOwner) {
  const TemporaryDirectory folder;
  std::vector<int> pids;
  {
    LocalWorkers workers(
        {.command = idle_program(folder.path()), .count = 2, .log_folder = folder.path()});
    workers.start();
    wait_until([&] { return up(folder.path()).size() == 2; });
    pids = up(folder.path());
    const std::string token = token_of(folder.path(), pids[0]);
    EXPECT_EQ(token.size(), 64u);
    EXPECT_TRUE(workers.adopt(7, token));
    EXPECT_FALSE(workers.adopt(8, token)) << "it was said before";
    EXPECT_FALSE(workers.adopt(8, ""));
    EXPECT_FALSE(workers.adopt(8, std::to_string(pids[1]))) << "a process number is no token";
    EXPECT_EQ(workers.kill(7), WorkerEnd::Killed);
    wait_until([&] { return up(folder.path()).size() == 3; });
    workers.set_extra(1);
    wait_until([&] { return up(folder.path()).size() == 4; });
    pids = up(folder.path());
  }
  for (const int pid : pids) EXPECT_NE(::kill(pid, 0), 0) << pid;
}

TEST(LocalWorkers, OneThatCrashesIsAtFault) {
  const TemporaryDirectory folder;
  const std::string told = folder.file("told"), go = folder.file("go");
  ASSERT_EQ(::mkfifo(told.c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(go.c_str(), 0600), 0);
  std::atomic<int> ends = 0;
  const std::string script =
      "echo $ATTUNE_TOKEN > " + told + "; read x < " + go + "; kill -SEGV $$";
  LocalWorkers workers(
      {.command = {"/bin/sh", "-c", script}, .count = 1, .log_folder = folder.path(), .ended = [&] {
         ++ends;
       }});
  workers.start();
  std::string token;
  std::ifstream(told) >> token;
  ASSERT_TRUE(workers.adopt(1, token));
  std::ofstream(go) << "\n";
  wait_until([&] { return ends == 1; });
  EXPECT_EQ(workers.kill(1), WorkerEnd::ByItsOwnFault);
  EXPECT_EQ(workers.kill(1), WorkerEnd::Killed) << "said once";
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

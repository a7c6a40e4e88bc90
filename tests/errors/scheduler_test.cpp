// What a scheduler says when its state cannot be kept, and what is left of it then.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <filesystem>

#include "base/temporary_directory_testing.h"
#include "fleet/jobs/policies/policies.h"
#include "fleet/server/state_file.h"
#include "fleet/wire/state_directory.h"
#include "tests/support/background_process.h"
#include "tests/support/process.h"

namespace attune {
namespace {

class SchedulerState : public ::testing::Test {
 protected:
  test::ProcessResult run(const std::vector<std::string>& words) const {
    std::vector<std::string> command = {test::attune_program()};
    command.insert(command.end(), words.begin(), words.end());
    command.insert(command.end(), {"--state", state_});
    return test::run_process(command);
  }
  bool mount_of(const std::string& size) {
    mounted_ = ::mount("none", place_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
    return mounted_;
  }
  SchedulerState() { std::filesystem::create_directory(place_); }
  ~SchedulerState() override {
    if (mounted_) ::umount(place_.c_str());
  }

  test::TemporaryDirectory directory_;
  const std::string place_ = directory_.file("small");
  const std::string state_ = place_ + "/state";
  bool mounted_ = false;
};

TEST_F(SchedulerState, AFullDiskEndsItWithAllThatItAcknowledged) {
  if (!mount_of("160k")) GTEST_SKIP() << "this process may not mount a file system";
  const std::string words =
      "attune: error: no space left on the disk of '" + wire::database_path(state_) +
      "'\nhint: free some space and start the scheduler again; what it acknowledged is safe\n";
  test::BackgroundProcess scheduler(
      {test::attune_program(), "scheduler", "--workers", "0", "--state", state_}, {});
  ASSERT_TRUE(scheduler.wait_for_error_text("serving"));
  std::size_t acknowledged = 0;
  test::ProcessResult submitted;
  while (acknowledged < 1000) {
    submitted = run({"submit", "mlp", "--name", fmt::format("job-{}", acknowledged)});
    if (submitted.status != 0) break;
    ++acknowledged;
  }
  EXPECT_GT(acknowledged, 0u);
  EXPECT_EQ(submitted.errors, words);
  const test::ProcessResult ended = scheduler.finish();
  EXPECT_EQ(ended.status, 1);
  EXPECT_NE(ended.errors.find(words), std::string::npos) << ended.errors;
  ASSERT_EQ(::mount("none", place_.c_str(), "tmpfs", MS_REMOUNT, "size=2m"), 0);
  const auto file = server::StateFile::open(wire::database_path(state_));
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->read_jobs()->size(), acknowledged);
}

TEST_F(SchedulerState, ADamagedFileIsRefused) {
  std::filesystem::create_directory(state_);
  directory_.write("small/state/scheduler.db", std::string(5000, 'x'));
  const test::ProcessResult result = run({"scheduler"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.errors,
            "attune: error: state file '" + wire::database_path(state_) +
                "' is damaged: file is not a database\nhint: move it away, or name another folder "
                "with --state DIR; it was not changed\n");
  EXPECT_EQ(directory_.read("small/state/scheduler.db"), std::string(5000, 'x'));
}

TEST_F(SchedulerState, WrongOptionsAreRefused) {
  const auto expect = [&](const std::vector<std::string>& words, const std::string& errors) {
    const test::ProcessResult result = run(words);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.errors, errors);
  };
  std::vector<std::string_view> policies;
  for (const jobs::Policy& policy : jobs::policies()) policies.push_back(policy.name);
  expect({"scheduler", "--policy", "luck"},
         fmt::format("attune: error: unknown policy 'luck'\nhint: policies are {}\n",
                     fmt::join(policies, ", ")));
  expect({"scheduler", "--quota", "ann=0"},
         "attune: error: --quota 'ann=0' is not NAME=COUNT\nhint: for example --quota ann=2\n");
  expect({"scheduler", "--device", "=2"},
         "attune: error: --device '=2' is not NAME=COUNT\nhint: for example --device cuda=2\n");
  expect({"scheduler", "--quota", "ann=2x"},
         "attune: error: --quota 'ann=2x' is not NAME=COUNT\nhint: for example --quota ann=2\n");
  expect({"scheduler", "--quota", "ann=2", "--quota", "ann=3"},
         "attune: error: --quota names 'ann' twice\nhint: give one count for it\n");
  for (const std::string text : {"cuda=2000000000", "cuda=10001", "cuda=99999999999999999999"}) {
    expect({"scheduler", "--device", text}, "attune: error: --device '" + text +
                                                "' is too large\nhint: choose a count from 1 to "
                                                "10000\n");
  }
  for (const std::string text : {"cuda=", "cuda=-1", "cuda=-99999999999999999999", "cuda= 2"}) {
    expect({"scheduler", "--device", text},
           "attune: error: --device '" + text +
               "' is not NAME=COUNT\nhint: for example --device cuda=2\n");
  }
  expect({"scheduler", "--device", "host=2"},
         "attune: error: --device cannot be 'host', the cores on which nothing is measured\nhint: "
         "--host-cores LIST says which cores they are\n");
  expect({"scheduler", "--keep-size", "20 GB"},
         "attune: error: --keep-size is '20 GB', which is no size\n"
         "hint: write it as 500M or 20G, at most 1024T\n");
  expect({"scheduler", "--cpuset", "on"},
         "attune: error: --cpuset is 'on', which is neither auto nor off\n");
  EXPECT_FALSE(std::filesystem::exists(state_));
}

}  // namespace
}  // namespace attune

// Jobs of a scheduler that has no workers: what clients are told, word by word.
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/temporary_directory_testing.h"
#include "tests/support/background_process.h"
#include "tests/support/process.h"

namespace attune {
namespace {

using Json = nlohmann::json;

class Jobs : public ::testing::Test {
 protected:
  Jobs() : state_(directory_.file("state")) {}

  std::vector<std::string> command(std::vector<std::string> words) const {
    words.insert(words.begin(), test::attune_program());
    words.insert(words.end(), {"--state", state_});
    return words;
  }
  std::map<std::string, std::string> environment() const {
    return {{"XDG_DATA_HOME", directory_.file("data")}};
  }
  test::ProcessResult run(const std::vector<std::string>& words) const {
    return test::run_process(command(words), environment());
  }
  Json json_of(std::vector<std::string> words) const {
    words.push_back("--json");
    const test::ProcessResult result = run(words);
    EXPECT_EQ(result.status, 0) << result.errors;
    return Json::parse(result.output, nullptr, false);
  }
  void expect_error(const std::vector<std::string>& words, int status,
                    const std::string& errors) const {
    const test::ProcessResult result = run(words);
    EXPECT_EQ(result.status, status) << result.errors;
    EXPECT_EQ(result.errors, errors);
    EXPECT_EQ(result.output, "");
  }

  test::TemporaryDirectory directory_;
  std::string state_;
};

class ServedJobs : public Jobs {
 protected:
  ServedJobs() : scheduler_(command({"scheduler", "--workers", "0"}), environment()) {
    EXPECT_TRUE(scheduler_.wait_for_error_text("serving"));
  }
  ~ServedJobs() override {
    scheduler_.send_signal(SIGTERM);
    EXPECT_EQ(scheduler_.finish().status, 0);
  }

  test::BackgroundProcess scheduler_;
};

const std::vector<std::string> kSubmit{
    "submit", "matmul:m=32,n=32,k=32", "--threads", "1", "--trials", "4"};

std::vector<std::string> submit_with(std::vector<std::string> further) {
  std::vector<std::string> words = kSubmit;
  words.insert(words.end(), further.begin(), further.end());
  return words;
}

TEST_F(ServedJobs, AreSubmittedOnceForOneKey) {
  const Json first = json_of(submit_with({"--key", "k", "--user", "ada", "--priority", "2"}));
  EXPECT_EQ(first["name"], "matmul");
  EXPECT_EQ(first["state"], "queued");
  EXPECT_EQ(first["user"], "ada");
  EXPECT_EQ(first["priority"], 2);
  EXPECT_EQ(json_of(submit_with({"--key", "k", "--user", "ada", "--priority", "2"}))["id"],
            first["id"]);
  EXPECT_EQ(json_of(kSubmit)["name"], "matmul-2");
  const Json all = json_of({"jobs"});
  ASSERT_EQ(all["jobs"].size(), 2u);
  for (const std::string field : {"name", "state", "trials", "best_ms"}) {
    EXPECT_TRUE(all["jobs"][0].contains(field)) << field;
  }
  EXPECT_EQ(all["pools"][0]["name"], "host");
  EXPECT_EQ(all["cores"], "affinity, because no worker is started here");
}

TEST_F(ServedJobs, ArePausedResumedStoppedAndCancelled) {
  json_of(submit_with({"--name", "a"}));
  json_of(submit_with({"--name", "b"}));
  EXPECT_EQ(json_of({"jobs", "pause", "a"})["state"], "paused");
  EXPECT_EQ(json_of({"jobs", "show", "a"})["state"], "paused");
  EXPECT_EQ(json_of({"jobs", "resume", "a"})["state"], "queued");
  EXPECT_EQ(json_of({"jobs", "stop", "a"})["state"], "stopped");
  EXPECT_EQ(json_of({"jobs", "cancel", "b"})["state"], "cancelled");
  // Nothing is left to watch, so that it ends by itself.
  const test::ProcessResult watched = run({"jobs", "watch"});
  EXPECT_EQ(watched.status, 0);
  EXPECT_EQ(watched.output, "a: stopped\nb: cancelled\n");
}

TEST_F(ServedJobs, ThatHaveEndedArePruned) {
  for (const char* name : {"a", "b", "c"}) json_of(submit_with({"--name", name}));
  for (const char* name : {"a", "b"}) json_of({"jobs", "cancel", name});
  EXPECT_TRUE(json_of({"jobs", "prune"})["jobs"].empty()) << "a week has not passed";
  const Json would = json_of({"jobs", "prune", "--older-than", "0", "--dry-run"});
  EXPECT_EQ(would["dry_run"], true);
  ASSERT_EQ(would["jobs"].size(), 2u);
  EXPECT_EQ(would["jobs"][1]["name"], "b");
  EXPECT_EQ(would["jobs"][1]["state"], "cancelled");
  const test::ProcessResult pruned = run({"jobs", "prune", "--older-than", "0"});
  EXPECT_EQ(pruned.status, 0);
  EXPECT_EQ(pruned.output, "j1       a\nj2       b\n");
  EXPECT_EQ(pruned.errors, "forgot 2 jobs\n");
  EXPECT_EQ(json_of({"jobs"})["jobs"].size(), 1u);
  expect_error({"jobs", "show", "a"}, 1,
               "attune: error: there is no job 'a'\nhint: 'attune jobs' lists all jobs\n");
  expect_error({"jobs", "prune", "--older-than", "-1"}, 2,
               "attune: error: --older-than is -1, must be between 0 and 36500\n");
}

TEST_F(ServedJobs, ThatCannotBeAreRefusedInWords) {
  expect_error({"submit", "resnet81"}, 2,
               "attune: error: there is no model, file or operator 'resnet81'\n"
               "hint: did you mean 'resnet18'? 'attune zoo' lists the models; an operator is "
               "written like matmul:m=1024,n=1024,k=1024\n");
  expect_error({"jobs", "show", "nobody"}, 1,
               "attune: error: there is no job 'nobody'\nhint: 'attune jobs' lists all jobs\n");
  expect_error(submit_with({"--device", "cuda", "--no-wait"}), 1,
               "attune: error: no worker has a device 'cuda'\n"
               "hint: there are no workers; leave out --no-wait to wait for one\n");
  EXPECT_EQ(json_of(submit_with({"--name", "a"}))["name"], "a");
  expect_error(submit_with({"--name", "a"}), 2,
               "attune: error: there is a job 'a' already, which is queued\n"
               "hint: give another --name\n");
  EXPECT_EQ(json_of({"jobs"})["jobs"].size(), 1u);
}

TEST_F(ServedJobs, ForADeviceThatNobodyHasSayWhatTheyWaitFor) {
  const test::ProcessResult result = run(submit_with({"--device", "cuda", "--name", "far"}));
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.errors, "submitted 'far' (job j1); next: attune jobs watch j1 --state " +
                               state_ +
                               "\nit waits: no worker has a device 'cuda'; there are none\n");
}

TEST_F(ServedJobs, ThatNameFilesWithoutUtf8AreRefused) {
  expect_error(
      submit_with({"--records", "/tmp/\xff.db"}), 2,
      "attune: error: --records is '/tmp/\ufffd.db', which is no text in UTF-8\n"
      "hint: a job names files by their whole paths, in UTF-8; rename the file, or link to it\n");
}

TEST_F(ServedJobs, WhoseOutputCannotBeAreRefused) {
  const std::string output = directory_.file("gone/mlp.attune");
  expect_error({"submit", "mlp", "-o", output}, 1,
               "attune: error: cannot write '" + output + "': directory '" +
                   directory_.file("gone") +
                   "' does not exist\nhint: create the directory first\n");
}

TEST_F(ServedJobs, HaveOneScheduler) {
  const test::ProcessResult second = run({"scheduler", "--workers", "0"});
  EXPECT_EQ(second.status, 1);
  EXPECT_NE(second.errors.find("attune: error: "), std::string::npos) << second.errors;
  EXPECT_NE(second.errors.find(state_), std::string::npos) << second.errors;
  EXPECT_EQ(json_of({"jobs"})["jobs"].size(), 0u);
}

TEST_F(ServedJobs, ThatNeverRanCannotBeReplayed) {
  json_of(submit_with({"--name", "a"}));
  expect_error({"scheduler", "replay", "--jobs", "a"}, 1,
               "attune: error: no stages of these jobs are recorded\n"
               "hint: 'attune jobs' lists the jobs; those that ran have stages\n");
  expect_error({"scheduler", "replay", "--jobs", "b"}, 1,
               "attune: error: there is no job 'b'\nhint: 'attune jobs --all' lists them\n");
}

TEST_F(Jobs, ReplayNeedsARun) {
  expect_error({"scheduler", "replay"}, 1,
               "attune: error: no scheduler has run in " + state_ +
                   "\nhint: name its directory with --state DIR\n");
}

TEST_F(Jobs, DamagedCalibrationIsNamed) {
  test::run_process({"mkdir", "-p", state_});
  std::ofstream(state_ + "/colocation.json") << "[]";
  expect_error({"scheduler"}, 1,
               "attune: error: '" + state_ +
                   "/colocation.json': the co-location file is damaged\n"
                   "hint: remove it, or write it anew with 'attune scheduler calibrate'\n");
}

TEST_F(Jobs, CalibrationOfOtherCoresIsNotObeyed) {
  test::run_process({"mkdir", "-p", state_});
  std::ofstream(state_ + "/colocation.json")
      << R"({"host_cores": [4000], "device_cores": [4001], "pairs": [
           {"stage": "profile-compute", "beside": "build", "slowdown": 2.0}]})";
  test::BackgroundProcess scheduler(command({"scheduler", "--workers", "0"}), environment());
  EXPECT_TRUE(scheduler.wait_for_error_text("serving"));
  scheduler.send_signal(SIGTERM);
  const test::ProcessResult result = scheduler.finish();
  EXPECT_NE(result.errors.find("'" + state_ +
                               "/colocation.json' is not obeyed: it was measured on other cores "
                               "(host 4000, measuring 4001 as one device); 'attune scheduler "
                               "calibrate' measures anew\n"),
            std::string::npos)
      << result.errors;
  EXPECT_EQ(result.errors.find("kept apart"), std::string::npos) << result.errors;
}

TEST_F(Jobs, SchedulersTakeListsOfCores) {
  expect_error({"scheduler", "--host-cores", "1-"}, 2,
               "attune: error: --host-cores is '1-', which is no list of cores\n"
               "hint: write it as 0,2-3\n");
}

}  // namespace
}  // namespace attune

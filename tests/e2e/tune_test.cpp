// Whole tuning runs on tiny operators: the document they print, what they record, and that they go
// on after having been stopped or killed.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/temporary_directory_testing.h"
#include "tests/support/background_process.h"
#include "tests/support/process.h"

namespace attune {
namespace {

using Json = nlohmann::json;

class Tune : public ::testing::Test {
 protected:
  std::vector<std::string> command(std::vector<std::string> words) const {
    words.insert(words.begin(), test::attune_program());
    words.insert(words.end(), {"--threads", "1", "--records", directory_.file("records.db")});
    return words;
  }
  std::map<std::string, std::string> environment() const {
    return {{"XDG_DATA_HOME", directory_.path().string()}};
  }
  Json run_json(std::vector<std::string> words) const {
    words.push_back("--json");
    const test::ProcessResult result = test::run_process(command(words), environment());
    EXPECT_EQ(result.status, 0) << result.errors;
    return Json::parse(result.output, nullptr, false);
  }
  Json records() const {
    const test::ProcessResult result =
        test::run_process({test::attune_program(), "records", "list", "--json", "--records",
                           directory_.file("records.db")});
    EXPECT_EQ(result.status, 0) << result.errors;
    return Json::parse(result.output, nullptr, false).at("records");
  }

  // Leaves records of default schedules alone, or of all others.
  void keep_records(bool of_defaults) const {
    const std::string store = directory_.file("records.db"), file = directory_.file("all.jsonl");
    const auto run = [&](const char* what) {
      const test::ProcessResult result =
          test::run_process({test::attune_program(), "records", what, file, "--records", store});
      ASSERT_EQ(result.status, 0) << result.errors;
    };
    run("export");
    std::istringstream all(directory_.read("all.jsonl"));
    std::string kept;
    for (std::string line; std::getline(all, line);) {
      const bool of_default = Json::parse(line).value("number", 0) == 0;
      if (of_default == of_defaults) kept += line + "\n";
    }
    directory_.write("all.jsonl", kept);
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(store + end);
    run("import");
  }

  test::TemporaryDirectory directory_;
  const std::string spec_ = "matmul:m=24,n=32,k=16";
};

TEST_F(Tune, PrintsItsDocument) {
  const Json document = run_json({"tune", spec_, "--trials", "10", "--seed", "7"});
  ASSERT_TRUE(document.is_object());
  for (const char* field : {"trials_per_second", "latency_ms", "default_latency_ms", "seconds"}) {
    EXPECT_GT(document.at(field).get<double>(), 0) << field;
  }
  EXPECT_EQ(document.at("seed"), 7);
  EXPECT_EQ(document.at("history").at("trials"), 0);
  EXPECT_TRUE(document.at("history").at("left_out").empty());
  ASSERT_EQ(document.at("tasks").size(), 1u);
  const Json& task = document.at("tasks")[0];
  EXPECT_EQ(task.at("name"), spec_);
  EXPECT_EQ(task.at("key").get<std::string>().size(), 16u);
  EXPECT_EQ(task.at("trials"), 10);
  EXPECT_GE(task.at("failed").get<int>(), 0);
  EXPECT_FALSE(task.at("exhausted").get<bool>());
  EXPECT_TRUE(task.at("rejected").is_object());
  for (const char* field : {"best_us", "default_us", "gflops", "seconds"}) {
    EXPECT_GT(task.at(field).get<double>(), 0) << field;
  }
  EXPECT_LE(task.at("best_us").get<double>(), task.at("default_us").get<double>());
  EXPECT_NEAR(document.at("latency_ms").get<double>(), task.at("best_us").get<double>() * 1e-3,
              1e-12);
  EXPECT_GE(records().size(), 10u);
}

TEST_F(Tune, ASpaceSmallerThanTheBudgetIsSaidToBeExhausted) {
  const Json document = run_json({"tune", "elementwise:m=1,n=4,op=relu", "--trials", "500"});
  EXPECT_TRUE(document.at("tasks")[0].at("exhausted").get<bool>());
  EXPECT_LT(document.at("tasks")[0].at("trials").get<int>(), 500);
}

TEST_F(Tune, ResumingCountsEarlierTrials) {
  EXPECT_EQ(run_json({"tune", spec_, "--trials", "6"}).at("tasks")[0].at("trials"), 6);
  const std::size_t before = records().size();
  const Json resumed = run_json({"tune", spec_, "--trials", "12", "--resume"});
  EXPECT_EQ(resumed.at("tasks")[0].at("trials"), 12);
  EXPECT_TRUE(resumed.at("tasks")[0].at("resumed").get<bool>());
  EXPECT_GT(records().size(), before);
  // Without --resume a run has a count of its own.
  const Json fresh = run_json({"tune", spec_, "--trials", "4"});
  EXPECT_EQ(fresh.at("tasks")[0].at("trials"), 4);
  EXPECT_FALSE(fresh.at("tasks")[0].at("resumed").get<bool>());
}

TEST_F(Tune, ResumingGoesOnWithTheSeedThatWasBegunWith) {
  run_json({"tune", spec_, "--trials", "4", "--seed", "3"});
  const Json newest = run_json({"tune", spec_, "--trials", "6", "--resume"});
  EXPECT_EQ(newest.at("seed"), 3);
  EXPECT_TRUE(newest.at("tasks")[0].at("resumed").get<bool>());
  const Json other = run_json({"tune", spec_, "--trials", "4", "--resume", "--seed", "4"});
  EXPECT_EQ(other.at("seed"), 4);
  EXPECT_FALSE(other.at("tasks")[0].at("resumed").get<bool>());
  const Json same = run_json({"tune", spec_, "--trials", "8", "--resume", "--seed", "3"});
  EXPECT_EQ(same.at("seed"), 3);
  EXPECT_EQ(same.at("tasks")[0].at("trials"), 8);
  EXPECT_TRUE(same.at("tasks")[0].at("resumed").get<bool>());
}

TEST_F(Tune, TrialsOfOneOperatorTeachAnother) {
  const Json first = run_json({"tune", "matmul:m=48,n=32,k=16", "--trials", "20"});
  const Json second = run_json({"tune", spec_, "--trials", "4"});
  EXPECT_GE(second.at("history").at("trials").get<int>(), 20);
  EXPECT_EQ(second.at("history").at("tasks"), 1);
}

TEST_F(Tune, GoesOnAfterHavingBeenKilled) {
  const std::vector<std::string> words = {"tune", spec_, "--trials", "100000"};
  std::size_t recorded = 0;
  {
    test::BackgroundProcess tuning(command(words), environment());
    ASSERT_TRUE(tuning.wait_for_error_text(" trials  best "));
    tuning.send_signal(SIGKILL);
    EXPECT_EQ(tuning.finish().status, 128 + SIGKILL);
    recorded = records().size();
    EXPECT_GT(recorded, 0u);
  }
  const auto wanted = static_cast<int>(recorded) + 40;
  const Json resumed = run_json({"tune", spec_, "--trials", std::to_string(wanted), "--resume"});
  EXPECT_TRUE(resumed.at("tasks")[0].at("resumed").get<bool>());
  EXPECT_GE(resumed.at("tasks")[0].at("trials").get<int>(), static_cast<int>(recorded));
  EXPECT_GT(records().size(), recorded);
}

TEST_F(Tune, ControlCEndsItInOrder) {
  test::BackgroundProcess tuning(command({"tune", spec_, "--trials", "100000", "--json"}),
                                 environment());
  ASSERT_TRUE(tuning.wait_for_error_text(" trials  best "));
  tuning.send_signal(SIGINT);
  const test::ProcessResult result = tuning.finish();
  EXPECT_EQ(result.status, 130) << result.errors;
  EXPECT_NE(result.errors.find("stopped; go on with: attune tune " + spec_), std::string::npos)
      << result.errors;
  const Json document = Json::parse(result.output, nullptr, false);
  ASSERT_TRUE(document.is_object()) << result.output;
  EXPECT_TRUE(document.at("stopped").get<bool>());
  EXPECT_GE(static_cast<int>(records().size()), document.at("tasks")[0].at("trials").get<int>());
}

TEST_F(Tune, BenchUsesWhatWasFound) {
  const Json before = run_json({"bench", spec_, "--repeats", "5"});
  EXPECT_EQ(before.at("schedule"), "default");
  const Json tuned = run_json({"tune", spec_, "--trials", "8"});
  const Json after = run_json({"bench", spec_, "--repeats", "5"});
  EXPECT_EQ(after.at("schedule"), "record");
  EXPECT_EQ(after.at("trace"), tuned.at("tasks")[0].at("trace"));
  for (const char* field : {"min", "median", "p90", "p99"}) {
    EXPECT_GT(after.at("latency_ms").at(field).get<double>(), 0);
  }
  EXPECT_EQ(after.at("threads"), 1);
  EXPECT_EQ(run_json({"bench", spec_, "--repeats", "5", "--default"}).at("schedule"), "default");
}

TEST_F(Tune, HistoryOfAnotherStoreIsUsed) {
  const Json first = run_json({"tune", spec_, "--trials", "8"});
  const std::string other = directory_.file("other.db");
  const test::ProcessResult benched = test::run_process(
      {test::attune_program(), "bench", spec_, "--threads", "1", "--json", "--repeats", "5",
       "--records", other, "--history", directory_.file("records.db")});
  ASSERT_EQ(benched.status, 0) << benched.errors;
  EXPECT_EQ(Json::parse(benched.output).at("trace"), first.at("tasks")[0].at("trace"));
}

// A hundredth of a second is over before the first round.
TEST_F(Tune, AModelWithoutTimeForItIsWhatCompilingMakes) {
  run_json({"tune", "mlp", "--trials", "6", "-o", directory_.file("tuned.attune")});
  keep_records(false);  // whatever the default schedules took, others are the best on record
  run_json({"compile", "mlp", "-o", directory_.file("compiled.attune")});
  std::map<std::string, double> best_us;
  std::map<std::string, std::string> best_trace;
  for (const Json& record : records()) {
    const std::string key = record.at("task_key").get<std::string>();
    if (!record.at("verified").get<bool>()) continue;
    const double us = record.at("outcome").at("best_us").get<double>();
    if (best_us.count(key) != 0 && best_us[key] <= us) continue;
    best_us[key] = us;
    best_trace[key] = record.at("trace").get<std::string>();
  }
  const std::size_t before = records().size();
  const Json document =
      run_json({"tune", "mlp", "--seconds", "0.01", "-o", directory_.file("after.attune")});
  EXPECT_EQ(records().size(), before) << "there was no round";
  for (const Json& task : document.at("tasks")) {
    EXPECT_EQ(task.at("trace"), best_trace.at(task.at("key").get<std::string>()));
  }
  ASSERT_FALSE(document.at("known_latency_ms").is_null()) << "it was in the race";
  // What is reported is the time of the artifact that was kept; ties go to the untuned one.
  if (document.at("kept") == "default") {
    EXPECT_EQ(document.at("latency_ms"), document.at("default_latency_ms"));
  } else if (document.at("kept") == "known") {
    EXPECT_EQ(document.at("latency_ms"), document.at("known_latency_ms"));
    EXPECT_TRUE(directory_.read("after.attune") == directory_.read("compiled.attune"));
  }
}

// They say nothing about what ships, on processors for which something does.
TEST_F(Tune, RecordsOfDefaultSchedulesAloneChangeNothing) {
  const auto traces = [&] {
    return run_json({"compile", "mlp", "--emit=trace"}).at("stages")[0].at("text");
  };
  const Json before = traces();
  run_json({"tune", "mlp", "--trials", "3", "-o", directory_.file("mlp.attune")});
  keep_records(true);
  EXPECT_EQ(records().size(), 3u);
  EXPECT_EQ(traces(), before);
}

TEST_F(Tune, AModelThatMeetsItsGoalIsNotTuned) {
  const std::string artifact = directory_.file("mlp.attune");
  const Json document = run_json({"tune", "mlp", "--until-latency", "60s", "-o", artifact});
  EXPECT_TRUE(document.at("reached").get<bool>());
  for (const Json& task : document.at("tasks")) EXPECT_EQ(task.at("trials"), 0);
  EXPECT_TRUE(std::filesystem::exists(artifact));
}

}  // namespace
}  // namespace attune

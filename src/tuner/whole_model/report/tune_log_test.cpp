#include "tuner/whole_model/report/tune_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

namespace attune::whole_model {
namespace {

using Json = nlohmann::json;

class TuneLogTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/tune_log_test." + std::to_string(getpid());
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  TuneLog open() const {
    auto log = TuneLog::open(path_);
    EXPECT_TRUE(log.ok()) << log.error().message;
    return std::move(*log);
  }
  std::vector<Json> events() const {
    std::ifstream file(path_);
    std::vector<Json> found;
    for (std::string line; std::getline(file, line);)
      found.push_back(Json::parse(line, nullptr, false));
    return found;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const Json& event : events())
      found.push_back(event.is_object() ? event.value("event", "?") : "?");
    return found;
  }

  std::string path_;
};

TuneProgress after(const std::string& stage, double seconds) {
  return {.stage = stage,
          .round = 3,
          .stage_seconds = 0.25,
          .tasks = {{.key = "k0", .name = "conv", .trials = 5}, {.key = "k1", .name = "dense"}},
          .trials = 5,
          .elapsed_seconds = seconds};
}

using Names = std::vector<std::string>;

TEST_F(TuneLogTest, TellsStagesBestsFailuresAndTheEnd) {
  TuneLog log = open();
  TuneOptions options;
  options.seconds = 60;
  log.began({.model = "resnet18"}, options);
  log.progressed(after("build", 1));
  TuneProgress profiled = after("profile", 2);
  profiled.tasks[0].best_us = 80;
  profiled.tasks[0].default_us = 100;
  profiled.failed = {{.task_key = "k0",
                      .task = "conv",
                      .candidate = 17,
                      .kind = "timed_out",
                      .reason = "10 s are over",
                      .trace = "vectorize anchor j"}};
  log.progressed(profiled);
  profiled.failed.clear();
  profiled.stage = "update";
  log.progressed(profiled);  // no better than before
  profiled.tasks[0].best_us = 79;
  profiled.tasks[0].settled = true;
  profiled.closing = true;
  log.progressed(profiled);
  log.progressed(profiled);
  log.ended(TuneReport{.latency_ms = 1.5, .default_latency_ms = 2.0}, 9);
  EXPECT_TRUE(log.status().ok());
  EXPECT_EQ(names(), (Names{"begin", "stage", "stage", "failure", "best", "stage", "closing",
                            "stage", "best", "settled", "stage", "end"}));
  const std::vector<Json> found = events();
  EXPECT_EQ(found[0].at("model"), "resnet18");
  EXPECT_EQ(found[0].at("seconds_budget"), 60);
  EXPECT_EQ(found[1].at("stage"), "build");
  EXPECT_EQ(found[1].at("round"), 3);
  EXPECT_EQ(found[1].at("stage_seconds"), 0.25);
  EXPECT_EQ(found[3].at("candidate"), 17);
  EXPECT_EQ(found[3].at("reason"), "10 s are over");
  EXPECT_EQ(found[4].at("best_us"), 80);
  EXPECT_EQ(found[8].at("best_us"), 79);
  EXPECT_EQ(found[9].at("key"), "k0");
  EXPECT_EQ(found[11].at("latency_ms"), 1.5);
  double last = 0;
  for (const Json& event : found) {
    EXPECT_GE(event.at("seconds").get<double>(), last);
    last = event.at("seconds").get<double>();
  }
}

TEST_F(TuneLogTest, AppendsAfterHalfALine) {
  std::ofstream(path_) << "{\"event\":\"begin\",\"sec";
  open().began({.model = "x"}, {});
  EXPECT_EQ(events().size(), 2U);
  EXPECT_TRUE(events()[0].is_discarded());
  EXPECT_EQ(names()[1], "begin");
  open().began({.model = "y"}, {});
  EXPECT_EQ(events().size(), 3U);
}

TEST_F(TuneLogTest, StagesOfTheWholeHaveNoTask) {
  TuneLog log = open();
  log.progressed({.of_whole = true, .begins = true, .stage = "race"});
  log.progressed({.of_whole = true, .stage = "race", .stage_seconds = 3});
  ASSERT_EQ(events().size(), 1U);
  EXPECT_EQ(events()[0].at("stage"), "race");
  EXPECT_FALSE(events()[0].contains("task"));
}

TEST_F(TuneLogTest, RunsThatFailSaySo) {
  open().ended(Error{ErrorCode::Io, "the disk is full", {}}, 2);
  EXPECT_EQ(events().at(0).at("error"), "the disk is full");
}

TEST_F(TuneLogTest, RefusesWhatCannotBeWritten) {
  const auto log = TuneLog::open(path_ + ".missing/log.jsonl");
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.error().message,
            "cannot open the log '" + path_ + ".missing/log.jsonl': No such file or directory");
}

TEST_F(TuneLogTest, AFullDiskDoesNotStopTheRun) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  auto log = TuneLog::open("/dev/full");
  ASSERT_TRUE(log.ok());
  log->began({.model = "x"}, {});
  ASSERT_FALSE(log->status().ok());
  EXPECT_EQ(log->status().error().message, "the log is incomplete: No space left on device");
  log->progressed(after("build", 1));
}

}  // namespace
}  // namespace attune::whole_model

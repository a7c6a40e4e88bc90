#include "app/cli/tune/tune_texts.h"

#include <gtest/gtest.h>

namespace attune::cli {
namespace {

// One whose default ran, and of which nothing else did.
whole_model::TunedTask default_only(const std::string& name) {
  return {.name = name,
          .trials = 9,
          .failed = 10,
          .failures = {{"build_failed", 2}, {"run_crashed", 8}},
          .timed = 1,
          .best_us = 100,
          .default_us = 100,
          .best_is_default = true};
}

TEST(TuneVerdict, WhenAllCandidatesFailedTheDefaultStays) {
  whole_model::TuneReport report{.tasks = {default_only("dense")}, .latency_ms = 0.1};
  const Status verdict = verdict_on_records(report);
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.error().message,
            "all candidates failed: 2 build_failed, 8 run_crashed; the default schedule stays");
  EXPECT_EQ(verdict.error().hint, "'attune records list' says what became of each");
  report.failures = {
      {.kind = "run_crashed",
       .count = 8,
       .example = {.task = "dense", .candidate = 3, .kind = "run_crashed", .reason = "signal 11"}}};
  EXPECT_NE(text_of(report).find("\nfailures\nrun_crashed                8  ####################\n"
                                 "  e.g. candidate 3 of dense: signal 11\n"),
            std::string::npos)
      << text_of(report);
  report.tasks[0].timed = 2;
  EXPECT_TRUE(verdict_on_records(report).ok());
}

TEST(TuneVerdict, WhenNothingRanNotEvenTheDefault) {
  whole_model::TunedTask task = default_only("dense");
  task.timed = 0;
  task.best_us.reset();
  task.default_us.reset();
  const Status verdict = verdict_on_records({.tasks = {task}});
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.error().message,
            "no candidate ran, not even the default schedule: 2 build_failed, 8 run_crashed");
}

TEST(TuneVerdict, OfAModelOnlyWhenAllItsTasksFailed) {
  whole_model::TuneReport report{
      .tasks = {default_only("a"), default_only("b")}, .latency_ms = 0.1, .output = "model.attune"};
  const Status verdict = verdict_on_artifact(report);
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.error().message,
            "all candidates failed: 4 build_failed, 16 run_crashed; the default schedules stay, "
            "compiled to model.attune");
  report.tasks[1].timed = 5;
  EXPECT_TRUE(verdict_on_artifact(report).ok());
  EXPECT_TRUE(verdict_on_artifact({}).ok());
}

TEST(TuneTexts, RejectionsOfAllTasksTheMostFrequentFirst) {
  whole_model::TuneReport report{.tasks = {{.rejected = {{"spills", 7}, {"a", 1}, {"b", 2}}},
                                           {.rejected = {{"spills", 5}, {"far slower", 30}}}}};
  EXPECT_EQ(rejections_text(report),
            "45 schedules were not worth building: 30 far slower, 12 spills, 2 b, 1 a");
  report.tasks[0].rejected.insert({{"c", 3}, {"d", 4}, {"e", 5}});
  EXPECT_EQ(rejections_text(report),
            "57 schedules were not worth building: 30 far slower, 12 spills, 5 e, 4 d, 3 c, the "
            "others for 2 further reasons");
  EXPECT_EQ(rejections_text({}), "");
}

}  // namespace
}  // namespace attune::cli

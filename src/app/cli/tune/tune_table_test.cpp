#include "app/cli/tune/tune_table.h"

#include <gtest/gtest.h>

#include "app/cli/text_width.h"

namespace attune::cli {
namespace {

whole_model::TaskProgress task_named(const std::string& name, double share) {
  return {.key = name,
          .name = name,
          .share = share,
          .trials = 48,
          .best_us = 100,
          .default_us = 125,
          .model_quality = 0.83,
          .left_seconds = 12};
}

whole_model::TuneProgress model_progress(std::size_t tasks) {
  whole_model::TuneProgress progress{.trials = 812, .latency_ms = 19.2, .left_seconds = 72};
  for (std::size_t i = 0; i < tasks; ++i) {
    progress.tasks.push_back(
        task_named("task " + std::to_string(i), 0.01 * static_cast<double>(i + 1)));
  }
  return progress;
}

TEST(TuneTable, ShowsWhatIsKnownOfEachTask) {
  whole_model::TuneProgress progress = model_progress(2);
  progress.tasks[0].settled = true;
  progress.tasks[0].best_us = 1500;
  const std::vector<std::string> lines = tune_table(progress, 100, 24);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "1/2 tasks settled  812 trials  sum 19.2 ms  1 min 12 s left");
  EXPECT_EQ(lines[1], "task     share  trials       best    gain  model         left");
  EXPECT_EQ(lines[2], "task 1   2.0 %      48     100 µs   1.25x   83 %         12 s");
  EXPECT_EQ(lines[3], "task 0   1.0 %      48     1.5 ms   0.08x   83 %      settled");
}

TEST(TuneTable, LeavesOutWhatIsNotKnown) {
  whole_model::TuneProgress progress{.tasks = {{.name = "conv"}, {.name = "dense", .trials = 1}}};
  const std::vector<std::string> lines = tune_table(progress, 100, 24);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "0/2 tasks settled  0 trials");
  EXPECT_EQ(lines[2], "conv        -       0          -       -      -      waiting");
  EXPECT_EQ(lines[3], "dense       -       1          -       -      -            -");
}

TEST(TuneTable, FitsTheHeight) {
  const whole_model::TuneProgress progress = model_progress(30);
  const std::vector<std::string> lines = tune_table(progress, 100, 10);
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_EQ(lines[2].substr(0, 7), "task 29") << "the largest first";
  EXPECT_EQ(lines.back(), "and 23 more: 276.0 % of the time, 1104 trials");
  EXPECT_EQ(tune_table(progress, 100, 32).size(), 32U);
  EXPECT_EQ(tune_table(progress, 100, 31).back().substr(0, 10), "and 2 more");
  EXPECT_EQ(tune_table(progress, 100, 2).size(), 1U);
}

TEST(TuneTable, FitsTheWidth) {
  whole_model::TuneProgress progress = model_progress(3);
  progress.tasks[1].name = std::string(200, 'x');
  for (std::size_t columns = 10; columns < 220; ++columns) {
    for (const std::string& line : tune_table(progress, columns, 24)) {
      EXPECT_LE(text_columns(line), columns) << line;
    }
  }
  // What matters most stays longest.
  EXPECT_EQ(tune_table(progress, 40, 24)[1], "task                        best    gain");
}

TEST(TuneTable, SaysWhatTheWholeIsDoing) {
  whole_model::TuneProgress progress{.of_whole = true, .begins = true, .stage = "layouts"};
  EXPECT_EQ(tune_summary(progress), "choosing layouts");
  progress = model_progress(2);
  progress.failures = {{"build_failed", 3}};
  progress.closing = true;
  EXPECT_EQ(tune_summary(progress),
            "0/2 tasks settled  812 trials  sum 19.2 ms  3 build_failed  comparing the best  "
            "1 min 12 s left");
}

TEST(TextWidth, CountsCharactersNotBytes) {
  EXPECT_EQ(text_columns("µs…"), 3U);
  EXPECT_EQ(shortened("12 µs", 5), "12 µs");
  EXPECT_EQ(shortened("12 µs", 4), "12 …");
  EXPECT_EQ(shortened("abc", 1), "…");
  EXPECT_EQ(shortened("abc", 0), "");
  EXPECT_EQ(right_aligned("µs", 4), "  µs");
  EXPECT_EQ(left_aligned("µs", 4), "µs  ");
}

}  // namespace
}  // namespace attune::cli

#include "tuner/session/allotment.h"

#include <gtest/gtest.h>

namespace attune::session {
namespace {

RoundSummary round_of(double best_us, double seconds = 1) {
  return {.round = 0, .trials = 8, .best_us = best_us, .default_us = 100, .work_seconds = seconds};
}

// Gives the next round to `task`, as if it were its turn.
void play(Allotment& allotment, std::size_t task, const RoundSummary& summary, bool more = true) {
  allotment.grant(task);
  allotment.finish(task, summary, more);
}

TEST(Allotment, EachTaskComesOnceTheLargestFirst) {
  Allotment allotment({{.uses = 1, .prior = 2}, {.uses = 1, .prior = 9}, {.uses = 1, .prior = 5}},
                      {});
  for (const std::size_t expected : {1U, 2U, 0U}) {
    ASSERT_EQ(allotment.next(), expected);
    allotment.grant(expected);
  }
  EXPECT_FALSE(allotment.next()) << "nothing is known before the first round is back";
  EXPECT_EQ(allotment.latency_us(), 0);
}

TEST(Allotment, TheMostGainOfTheModelInASecondIsNext) {
  Allotment allotment({{.uses = 1}, {.uses = 4}, {.uses = 1}}, {});
  play(allotment, 0, round_of(80));
  play(allotment, 1, round_of(80));
  play(allotment, 2, round_of(80, 0.1));
  EXPECT_EQ(allotment.next(), 2U) << "a tenth of the time";
  allotment.grant(2);
  EXPECT_EQ(allotment.next(), 1U) << "a second round at the same time would know too little";
  allotment.grant(1);
  allotment.finish(2, round_of(80, 0.1), true);
  allotment.finish(1, round_of(80), true);
  EXPECT_EQ(allotment.latency_us(), 80 + 4 * 80 + 80);
  EXPECT_EQ(allotment.gained_us(), 20 + 4 * 20 + 20);
}

TEST(Allotment, TasksWithoutGainSettleAndComeBackLast) {
  Allotment allotment({{.uses = 100}, {.uses = 1}}, {.patience = 3, .least_gain = 0.01});
  for (int i = 0; i < 4; ++i) play(allotment, 0, round_of(100));
  play(allotment, 1, round_of(90));
  EXPECT_TRUE(allotment.settled(0));
  EXPECT_FALSE(allotment.settled(1));
  EXPECT_EQ(allotment.next(), 1U);
  for (int i = 0; i < 3; ++i) play(allotment, 1, round_of(90));
  EXPECT_EQ(allotment.settled_count(), 2U);
  EXPECT_EQ(allotment.next(), 0U) << "time is left: twice the patience";
  for (int i = 0; i < 20; ++i) {
    for (const std::size_t task : {0U, 1U}) play(allotment, task, round_of(task == 0 ? 100 : 90));
  }
  EXPECT_FALSE(allotment.next()) << "enough is enough";
}

TEST(Allotment, SaysHowLongUntilATaskIsSettled) {
  Allotment allotment({{.uses = 1}}, {.patience = 3, .least_gain = 0.01});
  EXPECT_FALSE(allotment.seconds_to_settle(0)) << "nothing is known yet";
  play(allotment, 0, round_of(90, 2));
  EXPECT_EQ(allotment.seconds_to_settle(0), 6) << "three rounds of two seconds";
  play(allotment, 0, round_of(90, 2));
  EXPECT_EQ(allotment.seconds_to_settle(0), 4);
  for (int i = 0; i < 2; ++i) play(allotment, 0, round_of(90, 2));
  EXPECT_EQ(allotment.seconds_to_settle(0), 0);
}

TEST(Allotment, WhatHasNoMoreOrNeverRunsIsLeftAlone) {
  Allotment allotment({{.uses = 1}, {.uses = 1}, {.uses = 1}}, {});
  play(allotment, 0, round_of(50), false);
  allotment.grant(1);
  allotment.finish(1, std::nullopt, false);
  RoundSummary failed;
  failed.work_seconds = 1;
  for (int i = 0; i < 2; ++i) play(allotment, 2, failed);
  EXPECT_EQ(allotment.settled_count(), 3U);
  EXPECT_FALSE(allotment.next());
  EXPECT_EQ(allotment.latency_us(), 50);
}

}  // namespace
}  // namespace attune::session

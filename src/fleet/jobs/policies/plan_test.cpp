// How what is free is given out, whatever the policy.
#include <gtest/gtest.h>

#include "fleet/jobs/policies/policies.h"
#include "fleet/jobs/scheduler/scheduler.h"

namespace attune::jobs {
namespace {

const Policy& policy(std::string_view name) { return **find_policy(name); }

JobSpec ten_seconds(std::uint32_t user = 0) {
  return {.user = user, .usual_seconds = {10}, .stages_left = {9}};
}

TEST(Greedy, OfSeveralUnitsEachIsKeptByTheJobThatHadIt) {
  Scheduler scheduler({{"host", 2}}, policy("greedy"));
  const JobIndex a = scheduler.add_job(ten_seconds(), 0), b = scheduler.add_job(ten_seconds(), 0);
  const JobIndex c = scheduler.add_job(ten_seconds(), 0);
  scheduler.offer({a}, 0);
  scheduler.offer({b}, 0);
  const auto begun = scheduler.dispatch(0);
  ASSERT_EQ(begun.size(), 2u);
  scheduler.offer({c}, 1);
  scheduler.finish(begun[0].stage, 10, 10);  // not the one that began last
  scheduler.offer({a}, 10);
  const auto kept = scheduler.dispatch(10);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].job, a);
  EXPECT_EQ(kept[0].slot, 0);
  // What it cannot use goes to who waits longest, although it runs elsewhere on the pool.
  scheduler.finish(begun[1].stage, 11, 11);
  scheduler.offer({a}, 11);
  EXPECT_EQ(scheduler.dispatch(11)[0].job, c);
}

TEST(Greedy, AJobGetsTheUnitThatItHad) {
  Scheduler scheduler({{"host", 3}}, policy("greedy"));
  const JobIndex a = scheduler.add_job(ten_seconds(), 0), b = scheduler.add_job(ten_seconds(), 0);
  scheduler.offer({a}, 0);
  scheduler.offer({b}, 0);
  for (const Start& start : scheduler.dispatch(0)) scheduler.finish(start.stage, 10, 10);
  scheduler.offer({b}, 10);
  EXPECT_EQ(scheduler.dispatch(10)[0].slot, 1);
  const JobIndex c = scheduler.add_job(ten_seconds(), 11);
  scheduler.offer({c}, 11);
  EXPECT_EQ(scheduler.dispatch(11)[0].slot, 2);  // which nobody had
}

TEST(Quota, WhatStartsAtTheSameTimeCounts) {
  Scheduler scheduler({{"host", 3}}, policy("fair-share"), {}, {1, 0});
  for (int i = 0; i < 3; ++i) scheduler.offer({scheduler.add_job(ten_seconds(0), 0)}, 0);
  for (int i = 0; i < 2; ++i) scheduler.offer({scheduler.add_job(ten_seconds(1), 50)}, 50);
  const auto starts = scheduler.dispatch(60);
  ASSERT_EQ(starts.size(), 3u);
  EXPECT_EQ(starts[0].job, 0u);
  EXPECT_EQ(starts[1].job, 3u);
  EXPECT_EQ(starts[2].job, 4u);
  // When nobody else wants it, nothing stays idle.
  scheduler.finish(starts[1].stage, 70, 10);
  EXPECT_EQ(scheduler.dispatch(70).size(), 1u);
}

// Two jobs have stages of one unit, and always one of them runs. True: the large stage ran.
bool large_stage_gets_its_turn(std::string_view name) {
  Scheduler scheduler({{"host", 2}}, policy(name));
  const JobIndex a = scheduler.add_job(ten_seconds(), 0), b = scheduler.add_job(ten_seconds(), 0);
  const JobIndex large = scheduler.add_job({.usual_seconds = {10}, .stages_left = {99}}, 0);
  scheduler.offer({a}, 0);
  std::vector<Start> running = scheduler.dispatch(0);
  scheduler.offer({large, 0, 0, 2}, 0.5);
  scheduler.offer({b}, 1);
  for (const Start& start : scheduler.dispatch(1)) running.push_back(start);
  double now = 1;
  for (int turn = 0; turn < 40; ++turn) {
    now += 1;
    if (running.empty()) return false;
    const Start done = running.front();
    running.erase(running.begin());
    scheduler.finish(done.stage, now, 2);
    if (done.job == large) return true;
    scheduler.offer({done.job}, now);
    for (const Start& start : scheduler.dispatch(now)) running.push_back(start);
  }
  return false;
}

TEST(Plan, AStageOfManyUnitsGetsItsTurn) {
  for (const Policy& each : policies()) {
    if (each.coordinated && each.name != "sequential") {
      EXPECT_TRUE(large_stage_gets_its_turn(each.name)) << each.name;
    }
  }
}

TEST(Plan, WhatALargeStageDoesNotNeedIsNotKeptForIt) {
  Scheduler scheduler({{"host", 4}}, policy("fair"));
  const JobIndex a = scheduler.add_job(ten_seconds(), 0);
  scheduler.offer({a, 0, 0, 2}, 0);
  const auto begun = scheduler.dispatch(0);
  scheduler.offer({a, 0, 0, 3}, 1);
  scheduler.offer({a, 0, 0, 1}, 2);
  EXPECT_EQ(scheduler.dispatch(3).size(), 1u);  // it is patient yet
  scheduler.offer({a, 0, 0, 1}, 7);
  EXPECT_TRUE(scheduler.dispatch(7).empty());
  scheduler.finish(begun[0].stage, 8, 8);
  EXPECT_EQ(scheduler.dispatch(8).size(), 1u);  // the large one, on three of four
}

}  // namespace
}  // namespace attune::jobs

#include "fleet/jobs/scheduler/policy.h"

#include <gtest/gtest.h>

#include "fleet/jobs/policies/policies.h"
#include "fleet/jobs/scheduler/scheduler.h"

namespace attune::jobs {
namespace {

const Policy& policy(std::string_view name) { return **find_policy(name); }

JobSpec job_of(double stages_left) {
  return {.usual_seconds = {10, 10}, .stages_left = {stages_left, stages_left}};
}

// Of jobs that live on the host and on the device.
JobSpec job_of(double on_host, double on_device) {
  return {.usual_seconds = {10, 10},
          .stages_left = {on_host, on_device},
          .needs = {{.pool = 0}, {.pool = 1}}};
}

// Both jobs offer a stage of `kind`, which is also its pool; whose is started.
JobIndex preferred(Scheduler& scheduler, JobIndex one, JobIndex other, std::uint32_t kind = 0) {
  scheduler.offer({one, kind, kind, 1}, 0);
  scheduler.offer({other, kind, kind, 1}, 0);
  const auto starts = scheduler.dispatch(0);
  EXPECT_EQ(starts.size(), 1u);
  return starts.at(0).job;
}

TEST(Policies, UnknownNamesAreRefused) {
  const auto found = find_policy("luck");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().message, "unknown policy 'luck'");
  EXPECT_TRUE(found.error().hint.starts_with("policies are sequential, unscheduled, "));
}

TEST(Makespan, PrefersTheJobWithMostWorkLeft) {
  Scheduler scheduler({{"host", 1}}, policy("makespan"));
  const JobIndex small = scheduler.add_job(job_of(1), 0), large = scheduler.add_job(job_of(9), 0);
  EXPECT_EQ(preferred(scheduler, small, large), large);
}

TEST(Makespan, OnTheBusiestPoolWhatLeadsToALongTailElsewhereGoesFirst) {
  Scheduler scheduler({{"host", 1}, {"device", 1}}, policy("makespan"));
  const JobIndex longer = scheduler.add_job(job_of(9, 0), 0);
  const JobIndex tailed = scheduler.add_job(job_of(1, 4), 0);
  EXPECT_EQ(preferred(scheduler, longer, tailed), tailed);
}

TEST(Makespan, OnOtherPoolsTheLongestGoesFirst) {
  Scheduler scheduler({{"host", 1}, {"device", 1}}, policy("makespan"));
  const JobIndex longer = scheduler.add_job(job_of(9, 1), 0);
  const JobIndex shorter = scheduler.add_job(job_of(1, 4), 0);
  EXPECT_EQ(preferred(scheduler, shorter, longer, 1), longer);
}

TEST(Makespan, OfJobsAboutAsLongTheOneThatIsFurtherOnGoesFirst) {
  Scheduler scheduler({{"host", 1}}, policy("makespan"));
  JobSpec begun = job_of(20);
  begun.attained_seconds = 200;
  const JobIndex fresh = scheduler.add_job(job_of(21), 0), older = scheduler.add_job(begun, 0);
  EXPECT_EQ(preferred(scheduler, fresh, older), older);
}

TEST(Makespan, JobsOfUnknownLengthComeFirst) {
  Scheduler scheduler({{"host", 1}}, policy("makespan"));
  const JobIndex large = scheduler.add_job(job_of(99), 0);
  const JobIndex unknown = scheduler.add_job({.usual_seconds = {1}}, 0);
  EXPECT_EQ(preferred(scheduler, large, unknown), unknown);
}

TEST(Scheduler, WorkToComeIsThatOfActiveJobs) {
  Scheduler scheduler({{"host", 2}, {"device", 1}}, policy("makespan"));
  const JobSpec spec{.usual_seconds = {10, 4},
                     .stages_left = {3, 5},
                     .needs = {{.pool = 0, .amount = 2}, {.pool = 1}}};
  const JobIndex one = scheduler.add_job(spec, 0);
  scheduler.add_job(spec, 0);
  EXPECT_DOUBLE_EQ(scheduler.view(0).pools[0].work_left, 120);
  EXPECT_DOUBLE_EQ(scheduler.view(0).pools[1].work_left, 40);
  EXPECT_EQ(scheduler.view(0).busiest, 0u);
  scheduler.set_active(one, false);
  scheduler.set_stages_left(one, {9, 9});
  EXPECT_DOUBLE_EQ(scheduler.view(0).pools[0].work_left, 60);
  scheduler.set_active(one, true);
  EXPECT_DOUBLE_EQ(scheduler.view(0).pools[0].work_left, 240);
}

TEST(Scheduler, WhatComesOnceIsNotMadeShorterByPrefetching) {
  Scheduler scheduler({{"host", 1}, {"device", 1}}, policy("makespan"));
  const JobIndex job = scheduler.add_job(
      {.usual_seconds = {10, 10, 30}, .stages_left = {8, 8, 1}, .prefetch = 4}, 0);
  EXPECT_DOUBLE_EQ(scheduler.view(0).jobs[job].remaining_seconds, 70 + 10 + 10 + 30);
}

TEST(Latency, PrefersTheJobWithLeastWorkLeftAndOfUnknownOnesTheYoungest) {
  Scheduler scheduler({{"host", 1}}, policy("latency"));
  JobSpec unknown{.usual_seconds = {10}};
  const JobIndex first = scheduler.add_job(unknown, 0), second = scheduler.add_job(unknown, 0);
  scheduler.offer({first, 0, 0, 1}, 0);
  const auto begun = scheduler.dispatch(0);
  scheduler.finish(begun[0].stage, 10, 10);
  scheduler.offer({first, 0, 0, 1}, 10);
  scheduler.offer({second, 0, 0, 1}, 11);
  EXPECT_EQ(scheduler.dispatch(11)[0].job, second);
}

TEST(FairShare, UsersAboveTheirQuotaWait) {
  Scheduler scheduler({{"host", 3}}, policy("fair-share"), {}, {1, 0});
  JobSpec spec = job_of(5);
  const JobIndex a = scheduler.add_job(spec, 0), b = scheduler.add_job(spec, 0);
  spec.user = 1;
  const JobIndex c = scheduler.add_job(spec, 5);
  scheduler.offer({a, 0, 0, 1}, 0);
  ASSERT_EQ(scheduler.dispatch(0).size(), 1u);
  scheduler.offer({b, 0, 0, 1}, 0);
  scheduler.offer({c, 0, 0, 1}, 5);
  const auto starts = scheduler.dispatch(5);
  ASSERT_EQ(starts.size(), 2u);  // nothing stays idle for the sake of a quota
  EXPECT_EQ(starts[0].job, c);
}

TEST(Bundles, WhatContinuesOnTheSamePoolGoesFirst) {
  for (const std::string_view name : {"fair", "fair-bundled"}) {
    Scheduler scheduler({{"host", 1}}, policy(name));
    const JobIndex a = scheduler.add_job(job_of(2), 0), b = scheduler.add_job(job_of(2), 0);
    scheduler.offer({a, 0, 0, 1}, 0);
    const auto begun = scheduler.dispatch(0);
    scheduler.offer({b, 0, 0, 1}, 1);
    scheduler.finish(begun[0].stage, 10, 10);
    scheduler.offer({a, 1, 0, 1}, 10);
    EXPECT_EQ(scheduler.dispatch(10)[0].job, name == "fair" ? b : a) << name;
  }
}

TEST(CoLocation, ForbiddenPairsDoNotRunTogether) {
  CoLocation rules;
  rules.forbid(1, 0);
  Scheduler scheduler({{"host", 2}, {"device", 1}}, policy("fair"), rules);
  const JobIndex a = scheduler.add_job(job_of(2), 0), b = scheduler.add_job(job_of(2), 0);
  scheduler.offer({a, 0, 0, 1, 0}, 0);
  scheduler.offer({b, 1, 1, 1, 1}, 0);
  const auto starts = scheduler.dispatch(0);
  ASSERT_EQ(starts.size(), 1u);
  scheduler.finish(starts[0].stage, 3, 3);
  EXPECT_EQ(scheduler.dispatch(3).size(), 1u);
}

TEST(CoLocation, WhatClashesWithEverythingGetsItsTurn) {
  CoLocation rules;
  rules.forbid(1, 0);
  Scheduler scheduler({{"host", 1}, {"device", 1}}, policy("latency"), rules);
  const JobIndex small = scheduler.add_job(job_of(1), 0), large = scheduler.add_job(job_of(9), 0);
  scheduler.offer({small, 0, 0, 1, 0}, 0);
  scheduler.offer({large, 1, 1, 1, 1}, 0);
  double now = 0;
  bool started = false;
  for (int turn = 0; turn < 10 && !started; ++turn) {
    const auto starts = scheduler.dispatch(now);
    ASSERT_EQ(starts.size(), 1u);
    started = starts[0].job == large;
    now += 2;
    scheduler.finish(starts[0].stage, now, 2);
    scheduler.offer({small, 0, 0, 1, 0}, now);
  }
  EXPECT_TRUE(started);
}

TEST(Scheduler, AStageThatIsGivenUpRunsAgainOnceItIsOffered) {
  Scheduler scheduler({{"host", 2}}, policy("greedy"));
  const JobIndex a = scheduler.add_job(job_of(2), 0);
  scheduler.offer({a, 0, 0, 2}, 0);
  const auto first = scheduler.dispatch(0);
  scheduler.abandon(first[0].stage);
  EXPECT_EQ(scheduler.view(4).pools[0].free, 2);
  const StageId offered = scheduler.offer({a, 0, 0, 2}, 4);
  const auto again = scheduler.dispatch(4);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].stage, offered);
  scheduler.finish(again[0].stage, 9, 5);
  EXPECT_EQ(scheduler.view(9).pools[0].free, 2);
}

TEST(Scheduler, LargeStagesDoNotKeepSmallOnesFromIdleUnits) {
  Scheduler scheduler({{"host", 2}}, policy("fair"));
  const JobIndex a = scheduler.add_job(job_of(9), 0);
  scheduler.offer({a, 0, 0, 1}, 0);
  ASSERT_EQ(scheduler.dispatch(0).size(), 1u);
  scheduler.offer({a, 0, 0, 2}, 1);
  scheduler.offer({a, 1, 0, 1}, 2);
  const auto starts = scheduler.dispatch(2);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].kind, 1u);
}

}  // namespace
}  // namespace attune::jobs

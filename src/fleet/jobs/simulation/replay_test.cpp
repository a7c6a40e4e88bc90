#include "fleet/jobs/simulation/replay.h"
#include "fleet/jobs/policies/policies.h"

#include <gtest/gtest.h>

namespace attune::jobs {
namespace {

JobRow job_row(const std::string& id, double submitted_at) {
  JobRow row;
  row.job.set_id(id);
  row.job.mutable_spec()->set_name("job " + id);
  row.job.set_submitted_at(submitted_at);
  return row;
}

StageRow stage_row(const std::string& job, const std::string& kind, const std::string& pool,
                   double ready, double start, double end) {
  StageRow row;
  row.bar.set_job(job);
  row.bar.set_kind(kind);
  row.bar.set_pool(pool);
  row.bar.add_slots(0);
  row.bar.set_ready_at(ready);
  row.bar.set_started_at(start);
  row.bar.set_ended_at(end);
  return row;
}

const std::vector<Pool> kPools{{"host", 1}, {"cpu", 1}};

// Two equal jobs, one after the other: 10 s on the host, then 10 s on the device.
RecordedRun one_after_the_other() {
  return *recorded_run(kPools, {job_row("1", 1000), job_row("2", 1000)},
                       {stage_row("1", "build", "host", 1000, 1000, 1010),
                        stage_row("1", "profile", "cpu", 1010, 1010, 1020),
                        stage_row("2", "build", "host", 1000, 1020, 1030),
                        stage_row("2", "profile", "cpu", 1030, 1030, 1040)});
}

TEST(Replay, TellsHowItWas) {
  const SimulatedRun real = as_it_ran(one_after_the_other());
  EXPECT_DOUBLE_EQ(real.makespan, 40);
  EXPECT_DOUBLE_EQ(real.lower_bound, 20);
  EXPECT_DOUBLE_EQ(real.jobs[0].completed_at, 20);
  EXPECT_DOUBLE_EQ(real.jobs[1].completed_at, 40);
  EXPECT_DOUBLE_EQ(real.jobs[1].alone_seconds, 20);
  EXPECT_DOUBLE_EQ(real.utilisation[0], 0.5);
  EXPECT_EQ(real.stages, 4);
}

TEST(Replay, AnotherPolicyOverlapsThem) {
  const SimulatedRun run = replay(one_after_the_other(), **find_policy("makespan"));
  EXPECT_DOUBLE_EQ(run.makespan, 30);
  EXPECT_EQ(run.bars.size(), 4u);
}

TEST(Replay, SequentialTakesAsLongAsBefore) {
  EXPECT_DOUBLE_EQ(replay(one_after_the_other(), **find_policy("sequential")).makespan, 40);
}

TEST(Replay, WithoutCoordinationStagesStretch) {
  const SimulatedRun run = replay(one_after_the_other(), **find_policy("unscheduled"));
  EXPECT_DOUBLE_EQ(run.makespan, 40);
  for (const Bar& bar : run.bars) EXPECT_DOUBLE_EQ(bar.end - bar.begin, 20);
}

TEST(Replay, WhatMadeAStageReadyStillDoes) {
  // The second build was ready 2 s after the first profile, which is kept.
  const RecordedRun run = *recorded_run(
      kPools, {job_row("1", 0)},
      {stage_row("1", "build", "host", 0, 5, 10), stage_row("1", "profile", "cpu", 10, 15, 20),
       stage_row("1", "build", "host", 22, 22, 30)});
  const SimulatedRun again = replay(run, **find_policy("fair"));
  EXPECT_DOUBLE_EQ(again.makespan, 5 + 5 + 2 + 8);
  EXPECT_DOUBLE_EQ(again.lower_bound, 20);
}

TEST(Replay, JobsArriveWhenTheyDidOrAtOnce) {
  const RecordedRun run = *recorded_run(kPools, {job_row("1", 100), job_row("2", 150)},
                                        {stage_row("1", "build", "host", 100, 100, 110),
                                         stage_row("2", "build", "host", 151, 151, 161)});
  EXPECT_DOUBLE_EQ(replay(run, **find_policy("fair")).makespan, 61);
  EXPECT_DOUBLE_EQ(replay(submitted_at_once(run), **find_policy("fair")).makespan, 20);
}

TEST(Replay, LeavesOutWhatItWasNotAskedFor) {
  const auto nothing =
      recorded_run(kPools, {job_row("1", 0)}, {stage_row("2", "build", "host", 0, 0, 1)});
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().message, "no stages of these jobs are recorded");
}

TEST(Replay, ChartNamesJobsAndStages) {
  const RecordedRun run = one_after_the_other();
  const std::string chart = gantt_svg(run, as_it_ran(run), "as it ran");
  EXPECT_NE(chart.find("job 2 profile: 30.0 s to 40.0 s"), std::string::npos) << chart;
}

TEST(Replay, AStageHasAllItsUnits) {
  StageRow wide = stage_row("1", "build", "host", 0, 0, 10);
  wide.bar.add_slots(2);
  const RecordedRun run = *recorded_run({{"host", 3}, {"cpu", 1}}, {job_row("1", 0)}, {wide});
  EXPECT_EQ(as_it_ran(run).bars[0].slots, (std::vector<int>{0, 2}));
  EXPECT_EQ(replay(run, **find_policy("fair")).bars[0].slots, (std::vector<int>{0, 1}));
  const RecordedRun smaller = *recorded_run(kPools, {job_row("1", 0)}, {wide});
  EXPECT_EQ(replay(smaller, **find_policy("fair")).bars[0].slots, (std::vector<int>{0}));
}

}  // namespace
}  // namespace attune::jobs

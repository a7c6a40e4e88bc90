#include "fleet/jobs/simulation/simulate.h"
#include "fleet/jobs/policies/policies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

namespace attune::jobs {
namespace {

// The stage times of the published experiment.
Experiment published(int jobs, int host, int device, int batches = 60) {
  Experiment experiment{{{"host", host}, {"device", device}}, {}, 0.3, 0.6};
  for (int i = 0; i < jobs; ++i) {
    experiment.jobs.push_back(
        {.batches = batches,
         .stages = {
             {"build", 0, 1, 8.3, {}}, {"profile", 1, 1, 39.5, {}}, {"update", 0, 1, 44.0, {}}}});
  }
  return experiment;
}

struct Summary {
  double mean = 0, worst = 0, slowdown = 0, share = 0;
};

Summary over_seeds(const Experiment& experiment, std::string_view policy) {
  Summary summary;
  constexpr int kSeeds = 20;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const SimulatedRun run = simulate(experiment, **find_policy(policy), seed);
    summary.mean += run.ratio() / kSeeds;
    summary.worst = std::max(summary.worst, run.ratio());
    summary.slowdown += run.mean_slowdown() / kSeeds;
    summary.share = std::max(summary.share, run.worst_share_ratio());
  }
  return summary;
}

TEST(Simulate, OneJobTakesItsCriticalPathUnderEveryPolicy) {
  const Experiment experiment = published(1, 1, 1, 5);
  for (const Policy& policy : policies()) {
    const SimulatedRun run = simulate(experiment, policy, 3);
    EXPECT_NEAR(run.ratio(), 1, 1e-9) << policy.name;
    EXPECT_EQ(run.stages, 15) << policy.name;
  }
}

TEST(Simulate, SequentialJobsAddUp) {
  const Experiment experiment = published(3, 1, 1, 4);
  const SimulatedRun run = simulate(experiment, **find_policy("sequential"), 5);
  double sum = 0;
  for (const JobResult& job : run.jobs) sum += job.alone_seconds;
  EXPECT_NEAR(run.makespan, sum, 1e-9 * sum);
}

TEST(Simulate, NothingIsGivenOutTwice) {
  Experiment experiment = published(6, 3, 1, 6);
  for (MockJob& job : experiment.jobs) job.stages[2].amount = 2;
  for (const Policy& policy : policies()) {
    if (!policy.coordinated) continue;
    std::map<std::pair<std::uint32_t, int>, std::vector<std::pair<double, double>>> units;
    for (const Bar& bar : simulate(experiment, policy, 7, true).bars) {
      EXPECT_EQ(bar.slots.size(), bar.kind == 2 ? 2u : 1u);
      for (const int slot : bar.slots) units[{bar.pool, slot}].emplace_back(bar.begin, bar.end);
    }
    for (auto& [unit, times] : units) {
      EXPECT_LT(unit.second, experiment.pools[unit.first].capacity);
      std::sort(times.begin(), times.end());
      for (std::size_t i = 1; i < times.size(); ++i) {
        EXPECT_LE(times[i - 1].second, times[i].first) << policy.name;
      }
    }
  }
}

TEST(Simulate, SharingAPoolThatIsTooSmallStretchesItsStages) {
  Experiment experiment{{{"host", 1}}, {}, 0, 0};
  for (int i = 0; i < 2; ++i) experiment.jobs.push_back({.stages = {{"work", 0, 1, 10, {}}}});
  const SimulatedRun run = simulate(experiment, **find_policy("unscheduled"), 0, true);
  for (const Bar& bar : run.bars) EXPECT_DOUBLE_EQ(bar.end - bar.begin, 20);
}

TEST(Simulate, SynchronisedStagesStartTogether) {
  const SimulatedRun run = simulate(published(3, 1, 1, 3), **find_policy("synchronised"), 1, true);
  std::vector<double> begins;
  for (const Bar& bar : run.bars) begins.push_back(bar.begin);
  std::sort(begins.begin(), begins.end());
  for (std::size_t i = 0; i < begins.size(); i += 3) EXPECT_EQ(begins[i], begins[i + 2]);
}

TEST(Simulate, PrefetchOverlapsTheStagesOfOneJob) {
  Experiment experiment = published(1, 1, 1, 30);
  const double alone = simulate(experiment, **find_policy("makespan"), 2).makespan;
  experiment.jobs[0].prefetch = 2;
  EXPECT_LT(simulate(experiment, **find_policy("makespan"), 2).makespan, 0.75 * alone);
}

TEST(Simulate, RecordedTimesAreUsedAsTheyAre) {
  Experiment experiment{{{"host", 1}}, {}, 0.5, 0.5};
  experiment.jobs.push_back({.batches = 2, .stages = {{"work", 0, 1, 1, {3, 4}}}});
  EXPECT_DOUBLE_EQ(simulate(experiment, **find_policy("fair"), 9).makespan, 7);
}

TEST(Simulate, WhatComesOnceIsBeforeAndAfterTheBatches) {
  Experiment experiment{{{"host", 1}, {"device", 1}}, {}, 0, 0};
  experiment.jobs.push_back({.batches = 2,
                             .prefetch = 2,
                             .stages = {{"build", 0, 1, 3, {}}, {"profile", 1, 1, 4, {}}},
                             .opening = {{"load", 0, 1, 5, {}}, {"layouts", 1, 1, 6, {}}},
                             .closing = {{"compile", 0, 1, 7, {}}, {"race", 1, 1, 2, {}}}});
  const SimulatedRun run = simulate(experiment, **find_policy("fair"), 0, true);
  EXPECT_EQ(run.stages, 8);
  EXPECT_DOUBLE_EQ(run.makespan, 5 + 6 + 3 + 4 + 4 + 7 + 2);
  EXPECT_DOUBLE_EQ(run.lower_bound, run.makespan);
  EXPECT_DOUBLE_EQ(run.bars.front().end, 5);
  EXPECT_DOUBLE_EQ(run.bars.back().begin, run.makespan - 2);
}

// Unequal jobs as they are in reality: layouts are timed before, the whole is compiled and raced
// after, and in between compiling takes most of the time first, and measuring later.
Experiment unequal() {
  struct Sizes {
    int batches;
    double load, layouts, build, profile, compile, race;
  };
  Experiment experiment{{{"host", 1}, {"device", 1}}, {}, 0.3, 0.2};
  for (const Sizes& s :
       {Sizes{48, 0.3, 0.1, 0.18, 0.15, 1.3, 0.8}, Sizes{48, 1.0, 1.5, 0.18, 0.10, 0.5, 0.8},
        Sizes{56, 2.3, 3.9, 0.20, 0.12, 0.8, 1.2}, Sizes{20, 0.3, 0.1, 0.08, 0.06, 0.1, 0.8}}) {
    StageModel build{"build", 0, 1, s.build, {}}, profile{"profile", 1, 1, s.profile, {}};
    for (int i = 0; i < s.batches; ++i) {
      const bool early = 2 * i < s.batches;
      build.recorded_seconds.push_back(s.build * (early ? 1.6 : 0.4));
      profile.recorded_seconds.push_back(s.profile * (early ? 0.6 : 1.4));
    }
    experiment.jobs.push_back(
        {.batches = s.batches,
         .prefetch = 4,
         .stages = {build, profile},
         .opening = {{"load", 0, 1, s.load, {}}, {"layouts", 1, 1, s.layouts, {}}},
         .closing = {{"compile", 0, 1, s.compile, {}}, {"race", 1, 1, s.race, {}}}});
  }
  return experiment;
}

TEST(Makespan, IsTheBestForUnequalJobsWithTails) {
  const Summary summary = over_seeds(unequal(), "makespan");
  EXPECT_LE(summary.mean, 1.18);
  for (const std::string_view other : {"fair", "greedy", "latency", "fair-share"}) {
    EXPECT_LE(summary.mean, over_seeds(unequal(), other).mean) << other;
  }
}

// Equal jobs that compile first and measure most at the end: when one of them is done with its
// batches, its closing stages go beside the other's batches instead of beside its closing stages.
TEST(Makespan, EqualJobsDoNotEndTogether) {
  Experiment experiment{{{"host", 1}, {"device", 1}}, {}, 0.3, 0.05};
  StageModel build{"build", 0, 1, 0.8, {}}, profile{"profile", 1, 1, 0.45, {}};
  for (int i = 0; i < 40; ++i) {
    build.recorded_seconds.push_back(i < 32 ? 1.0 : 0.02);
    profile.recorded_seconds.push_back(i < 32 ? 0.36 : 0.81);
  }
  const MockJob job{
      .batches = 40,
      .prefetch = 3,
      .stages = {build, profile},
      .opening = {{"load", 0, 1, 0.3, {}}},
      .closing = {{"confirm", 1, 1, 0.5, {}}, {"compile", 0, 1, 1.3, {}}, {"race", 1, 1, 0.9, {}}}};
  experiment.jobs = {job, job};
  EXPECT_LE(over_seeds(experiment, "makespan").mean, 1.13);
}

TEST(Makespan, EndsNearTheLowerBound) {
  const Summary four = over_seeds(published(4, 1, 1), "makespan");
  EXPECT_LE(four.mean, 1.07);
  EXPECT_LE(four.worst, 1.25);
  const Summary sixteen = over_seeds(published(16, 2, 2), "makespan");
  EXPECT_LE(sixteen.mean, 1.03);
  EXPECT_LE(sixteen.worst, 1.12);
  const Summary many = over_seeds(published(32, 4, 4), "makespan");
  EXPECT_LE(many.mean, 1.03);
  EXPECT_LE(many.worst, 1.12);
}

TEST(Latency, CompletesJobsSoonerThanFirstComeFirstServed) {
  const Experiment experiment = published(16, 2, 2);
  EXPECT_LE(over_seeds(experiment, "latency").slowdown,
            0.8 * over_seeds(experiment, "fair").slowdown);
}

TEST(FairShare, NoJobFallsFarBehindItsShare) {
  EXPECT_LE(over_seeds(published(4, 1, 1), "fair-share").share, 3);
  EXPECT_LE(over_seeds(published(16, 2, 2), "fair-share").share, 3);
  EXPECT_LE(over_seeds(published(32, 4, 4), "fair-share").share, 3);
}

// Jobs of different lengths that come at different times. Their stages differ less than those of
// the published experiment: where a stage of one job is as long as seven of another, the other
// waits more than three times as long under every policy, since no stage is interrupted.
Experiment arriving(int jobs, int host, int device) {
  Experiment experiment = published(jobs, host, device);
  experiment.heterogeneity = 0.45;
  for (int i = 0; i < jobs; ++i) {
    MockJob& job = experiment.jobs[static_cast<std::size_t>(i)];
    job.batches = 5 + 115 * (i * 7 % jobs) / jobs;
    job.submit_at = i % 4 * 400;
  }
  return experiment;
}

TEST(FairShare, NoJobFallsFarBehindItsShareWhenLengthsAndArrivalsDiffer) {
  struct Machine {
    int jobs, host, device;
  };
  for (const Machine& machine :
       {Machine{2, 1, 1}, {3, 1, 1}, {5, 1, 1}, {8, 2, 1}, {12, 1, 2}, {24, 3, 2}, {48, 4, 4}}) {
    const Experiment experiment = arriving(machine.jobs, machine.host, machine.device);
    EXPECT_LE(over_seeds(experiment, "fair-share").share, 3) << machine.jobs;
  }
}

TEST(FairShare, ALongJobIsNotStarvedByShortOnesThatKeepComing) {
  Experiment experiment = published(41, 1, 1, 4);
  experiment.jobs[0].batches = 120;
  for (std::size_t i = 1; i < experiment.jobs.size(); ++i) {
    experiment.jobs[i].submit_at = static_cast<double>(i) * 300;
  }
  experiment.heterogeneity = 0.45;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SimulatedRun run = simulate(experiment, **find_policy("fair-share"), seed);
    EXPECT_LE(run.worst_share_ratio(), 3) << seed;
    EXPECT_LE(run.jobs[0].completed_at, 3 * run.jobs[0].alone_seconds) << seed;
  }
}

TEST(FairShare, AUserAboveTheQuotaWaitsForTheOthers) {
  Experiment experiment = published(8, 2, 2, 20);
  for (std::size_t i = 0; i < 8; ++i) experiment.jobs[i].user = i % 2 == 0 ? "ann" : "bob";
  const auto slowdowns = [&] {  // of ann, of bob
    std::array<double, 2> sums{};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const SimulatedRun run = simulate(experiment, **find_policy("fair-share"), seed);
      for (std::size_t i = 0; i < 8; ++i) {
        sums[i % 2] += run.jobs[i].completed_at / run.jobs[i].alone_seconds / 80;
      }
    }
    return sums;
  };
  const auto without = slowdowns();
  experiment.quotas = {{"ann", 1}};
  const auto with = slowdowns();
  EXPECT_GT(with[0], 1.1 * without[0]);
  EXPECT_LT(with[1], 0.95 * without[1]);
}

TEST(FairShare, CountsTheJobsThatWereThere) {
  EXPECT_EQ(jobs_present({{0, 10}, {5, 20}, {10, 15}, {30, 40}}),
            (std::vector<std::size_t>{2, 3, 2, 1}));
}

}  // namespace
}  // namespace attune::jobs

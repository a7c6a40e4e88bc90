#include "fleet/jobs/scheduler/experience.h"

#include <gtest/gtest.h>

namespace attune::jobs {
namespace {

v1::Job job(const std::string& model, std::int64_t trials, double attained) {
  v1::Job job;
  job.mutable_spec()->set_model(model);
  job.mutable_spec()->set_trials(trials);
  job.set_state(v1::DONE);
  job.set_attained_seconds(attained);
  return job;
}

TEST(Experience, WhatIsSaidCountsAsOneObservation) {
  Experience experience;
  EXPECT_DOUBLE_EQ(experience.stage_seconds("build", 4), 4);
  EXPECT_TRUE(experience.learn_stage("build", 7));
  EXPECT_TRUE(experience.learn_stage("build", 7));
  EXPECT_FALSE(experience.learn_stage("build", 7));
  EXPECT_TRUE(experience.learn_stage("build", 7));
  EXPECT_DOUBLE_EQ(experience.stage_seconds("build", 2), 6);
}

TEST(Experience, JobsTakeWhatTheirModelTookOrElseOthers) {
  Experience experience;
  EXPECT_LT(experience.expect(job("a", 10, 0).spec()).seconds(), 0);
  experience.learn_job(job("a", 10, 30));
  experience.learn_job(job("b", 10, 90));
  EXPECT_DOUBLE_EQ(experience.expect(job("a", 40, 0).spec()).seconds(), 120);
  EXPECT_DOUBLE_EQ(experience.expect(job("c", 40, 0).spec()).seconds(), 240);
  EXPECT_LT(experience.expect(job("a", 0, 0).spec()).seconds(), 0);  // another budget
  v1::Job timed = job("a", 40, 0);
  timed.mutable_spec()->set_seconds(50);
  EXPECT_DOUBLE_EQ(experience.expect(timed.spec()).seconds(), 50);
  timed.set_attained_seconds(1);
  experience.learn_job(timed);  // says nothing about its trials
  EXPECT_DOUBLE_EQ(experience.expect(job("a", 40, 0).spec()).seconds(), 120);
}

TEST(Experience, AnExpectationFollowsWhatIsLearnt) {
  Experience experience;
  const Expectation expected = experience.expect(job("a", 10, 0).spec());
  EXPECT_LT(expected.seconds(), 0);
  experience.learn_job(job("b", 10, 90));
  EXPECT_DOUBLE_EQ(expected.seconds(), 90);
  experience.learn_job(job("a", 10, 30));
  EXPECT_DOUBLE_EQ(expected.seconds(), 30);
}

TEST(Experience, OfManyModelsDoesNotGrowForEver) {
  Experience experience;
  const Expectation waits = experience.expect(job("waits", 10, 0).spec());
  experience.learn_job(job("waits", 10, 30));
  for (int i = 0; i < 30'000; ++i) experience.learn_job(job(std::to_string(i), 10, 90));
  EXPECT_LE(experience.models(), 10'000u);
  EXPECT_DOUBLE_EQ(waits.seconds(), 30);
  EXPECT_DOUBLE_EQ(experience.expect(job("29999", 10, 0).spec()).seconds(), 90);
}

}  // namespace
}  // namespace attune::jobs

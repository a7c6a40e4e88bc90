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
  EXPECT_LT(experience.job_seconds(job("a", 10, 0).spec()), 0);
  experience.learn_job(job("a", 10, 30));
  experience.learn_job(job("b", 10, 90));
  EXPECT_DOUBLE_EQ(experience.job_seconds(job("a", 40, 0).spec()), 120);
  EXPECT_DOUBLE_EQ(experience.job_seconds(job("c", 40, 0).spec()), 240);
  EXPECT_LT(experience.job_seconds(job("a", 0, 0).spec()), 0);  // another budget
  v1::Job timed = job("a", 40, 0);
  timed.mutable_spec()->set_seconds(50);
  EXPECT_DOUBLE_EQ(experience.job_seconds(timed.spec()), 50);
  timed.set_attained_seconds(1);
  experience.learn_job(timed);  // says nothing about its trials
  EXPECT_DOUBLE_EQ(experience.job_seconds(job("a", 40, 0).spec()), 120);
}

}  // namespace
}  // namespace attune::jobs

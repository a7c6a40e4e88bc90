#include <gtest/gtest.h>

#include "fleet/jobs/policies/policies.h"
#include "fleet/jobs/scheduler/scheduler.h"

namespace attune::jobs {
namespace {

TEST(RemovedJobs, LeaveTheirPlaceToOthers) {
  Scheduler scheduler({{"host", 1}}, **find_policy("greedy"));
  const JobIndex first = scheduler.add_job({.usual_seconds = {1}}, 0);
  const JobIndex second = scheduler.add_job({.usual_seconds = {1}}, 1);
  EXPECT_EQ(scheduler.view(1).oldest_job, first);
  scheduler.offer({.job = first}, 1);
  const StageId stage = scheduler.dispatch(1).at(0).stage;
  scheduler.finish(stage, 2, 1);
  scheduler.offer({.job = first}, 2);  // is withdrawn with it
  scheduler.remove_job(first);
  EXPECT_EQ(scheduler.view(2).oldest_job, second);
  EXPECT_TRUE(scheduler.view(2).ready.empty());
  EXPECT_EQ(scheduler.view(2).users[0].jobs, 1);
  const JobIndex third = scheduler.add_job({.usual_seconds = {1, 2}}, 3);
  EXPECT_EQ(third, first) << "jobs that come and go take no more than those that are there";
  EXPECT_TRUE(scheduler.view(3).pools[0].holders.empty()) << "it never had the unit";
  EXPECT_EQ(scheduler.view(3).jobs[third].attained_seconds, 0);
  scheduler.offer({.job = third, .kind = 1}, 3);
  EXPECT_EQ(scheduler.dispatch(3).at(0).job, third);
}

}  // namespace
}  // namespace attune::jobs

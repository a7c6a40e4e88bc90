#include "app/verbs/look_refusal.h"

#include <gtest/gtest.h>

#include "app/verbs/compile.h"

namespace attune::verbs {
namespace {

target::Target machine_with(int measured_cores, int threads) {
  target::Target target;
  target.set("mcpu", "znver4");
  target.threads = threads;
  target.machine.cores = measured_cores;
  return target;
}

TEST(LookRefusal, AMeasuredMachineWithCoresEnoughIsTimed) {
  EXPECT_TRUE(may_time(machine_with(4, 4), 4));
  EXPECT_TRUE(may_time(machine_with(4, 1), 1));
  EXPECT_FALSE(may_time(machine_with(0, 1), 4));
  EXPECT_FALSE(may_time(machine_with(4, 8), 8));
  EXPECT_FALSE(may_time(machine_with(8, 8), 4));
}

TEST(LookRefusal, AMachineThatWasNotMeasuredIsSaidToBe) {
  EXPECT_EQ(why_not_timed(machine_with(0, 1), machine_with(0, 4), 4),
            "the speed of this machine was not measured, so that no schedule was timed; `attune "
            "doctor` measures it");
}

TEST(LookRefusal, MoreThreadsThanCoresAreNamed) {
  EXPECT_EQ(why_not_timed(machine_with(8, 64), machine_with(8, 8), 8),
            "64 threads are more than the 8 cores of this process, so that no schedule was timed; "
            "choose --threads 8 or fewer");
  EXPECT_EQ(why_not_timed(machine_with(8, 2), machine_with(8, 8), 1),
            "2 threads are more than the 1 core of this process, so that no schedule was timed; "
            "choose --threads 1 or fewer");
}

TEST(LookRefusal, ForAnotherMachineNothingIsSaid) {
  target::Target other = machine_with(0, 4);
  other.set("mcpu", "znver3");
  EXPECT_EQ(why_not_timed(other, machine_with(8, 8), 8), "");
  other = machine_with(0, 4);
  other.kind = "other";
  EXPECT_EQ(why_not_timed(other, machine_with(8, 8), 8), "");
}

TEST(LookRefusal, IsPartOfTheReport) {
  CompileReport report;
  EXPECT_NE(to_json(report).find("\"refused\": null"), std::string::npos) << to_json(report);
  report.look_refused = "a reason";
  EXPECT_NE(to_json(report).find("\"refused\": \"a reason\""), std::string::npos);
}

}  // namespace
}  // namespace attune::verbs

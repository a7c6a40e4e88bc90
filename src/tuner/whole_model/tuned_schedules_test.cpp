#include "tuner/whole_model/tuned_schedules.h"

#include <gtest/gtest.h>

namespace attune::whole_model {
namespace {

schedule::Trace trace_of(const char* choice) {
  return {schedule::Annotate{"output", "*", "choice", choice}};
}

class TunedScheduleTest : public testing::Test {
 protected:
  // The session found something that takes 100 us.
  TunedScheduleTest() {
    report_.best_us = 100;
    report_.best_trace = text("found");
  }
  std::string chosen(bool tried) const {
    return schedule::to_string(tuned_schedule(report_, untuned_, known_, tried).trace);
  }
  static std::string text(const char* choice) { return schedule::to_string(trace_of(choice)); }

  session::TaskReport report_;
  model::Schedule untuned_{.trace = trace_of("default")};
  model::Schedule known_{
      .trace = trace_of("known"), .origin = model::Origin::Record, .measured_us = 90};
};

TEST_F(TunedScheduleTest, ATaskWithoutATimeHasWhatWasKnown) {
  report_ = {};
  report_.best_trace = text("default");
  report_.best_is_default = true;
  EXPECT_EQ(chosen(false), text("known"));
}

TEST_F(TunedScheduleTest, WhatTheSessionMeasuredItselfIsForItToJudge) {
  EXPECT_EQ(chosen(true), text("found"));
  report_.best_is_default = true;
  report_.best_trace = text("default");
  EXPECT_EQ(chosen(true), text("default"));
}

TEST_F(TunedScheduleTest, AFasterRecordThatItDidNotTryStays) {
  EXPECT_EQ(chosen(false), text("known"));
  known_.measured_us = 110;
  EXPECT_EQ(chosen(false), text("found"));
}

TEST_F(TunedScheduleTest, WhatWasNeverMeasuredGivesWayToAnythingButTheDefault) {
  known_.origin = model::Origin::Shipped;
  EXPECT_EQ(chosen(false), text("found"));
  report_.best_is_default = true;
  EXPECT_EQ(chosen(false), text("known"));
}

}  // namespace
}  // namespace attune::whole_model

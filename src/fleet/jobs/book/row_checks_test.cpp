#include "fleet/jobs/book/row_checks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace attune::jobs {
namespace {

// One that waits, and whose worker elsewhere measures on the first device.
JobRow good_row(std::int64_t number = 1) {
  JobRow row{.number = number};
  row.job.set_id("j" + std::to_string(number));
  row.job.mutable_spec()->set_priority(1);
  row.job.mutable_spec()->set_prefetch(1);
  v1::StageKind& kind = *row.job.add_kinds();
  kind.set_name("profile");
  kind.set_pool("cpu");
  v1::HeldStage& held = *row.job.mutable_hold()->add_stages();
  held.add_slots(0);
  return row;
}

std::string said_of(const std::function<void(v1::Job&)>& spoil) {
  JobRow row = good_row();
  spoil(row.job);
  const Status status = check_row(row);
  return status.ok() ? "" : status.error().message;
}

TEST(RowChecks, AGoodRowIsBelieved) {
  EXPECT_TRUE(check_row(good_row()).ok());
  EXPECT_TRUE(check_rows({good_row(1)}).ok());
}

TEST(RowChecks, WhatIsWrongIsNamed) {
  EXPECT_EQ(said_of([](v1::Job& job) { job.set_id("j2"); }), "row 1 of the jobs: its job is 'j2'");
  EXPECT_EQ(said_of([](v1::Job& job) { job.set_state(v1::RUNNING); }),
            "row 1 of the jobs: its state is 1");
  EXPECT_EQ(said_of([](v1::Job& job) { job.set_submitted_at(std::nan("")); }),
            "row 1 of the jobs: nan is no time");
  EXPECT_EQ(said_of([](v1::Job& job) { job.set_attained_seconds(-1); }),
            "row 1 of the jobs: -1 is no time that something took");
  EXPECT_EQ(said_of([](v1::Job& job) { job.set_epoch(-1); }), "row 1 of the jobs: epoch -1");
  EXPECT_EQ(said_of([](v1::Job& job) { job.add_stages_done(-5); }),
            "row 1 of the jobs: -5 stages are done");
  EXPECT_EQ(said_of([](v1::Job& job) { job.mutable_strikes()->set_stuck(2'000'000'000); }),
            "row 1 of the jobs: 2000000000 strikes");
  EXPECT_EQ(said_of([](v1::Job& job) { job.mutable_spec()->set_prefetch(0); }),
            "row 1 of the jobs: its priority is 1, it has 0 batches in flight");
  EXPECT_EQ(said_of([](v1::Job& job) { job.mutable_kinds(0)->set_left(1e300); }),
            "row 1 of the jobs: of stages 'profile' 1e+300 are to come, must be at most 10000000");
}

TEST(RowChecks, WhatIsHeldIsThere) {
  const auto held = [](const std::function<void(v1::HeldStage&)>& spoil) {
    return said_of([&](v1::Job& job) { spoil(*job.mutable_hold()->mutable_stages(0)); });
  };
  EXPECT_EQ(held([](v1::HeldStage& stage) { stage.set_kind(1); }),
            "row 1 of the jobs: it holds a stage of kind 1, there are 1");
  EXPECT_EQ(held([](v1::HeldStage& stage) { stage.set_kind(-1); }),
            "row 1 of the jobs: it holds a stage of kind -1, there are 1");
  EXPECT_EQ(held([](v1::HeldStage& stage) { stage.clear_slots(); }),
            "row 1 of the jobs: it holds 0 units for one stage");
  EXPECT_EQ(held([](v1::HeldStage& stage) { stage.set_slots(0, -3); }),
            "row 1 of the jobs: it holds unit -3");
  EXPECT_EQ(said_of([](v1::Job& job) { *job.mutable_hold()->add_stages() = job.hold().stages(0); }),
            "row 1 of the jobs: it holds stage 0 twice");
  EXPECT_EQ(check_rows({good_row(1), good_row(2)}).error().message,
            "row 2 of the jobs: it holds unit 0 of 'cpu', which job 'j1' holds");
}

}  // namespace
}  // namespace attune::jobs

#include "tuner/whole_model/alternatives.h"

#include <gtest/gtest.h>

namespace attune::whole_model {
namespace {

schedule::Trace trace_of(const std::string& text) { return schedule::parse_trace(text).value(); }

schedule::Trace rows(int block, int tile) {
  return trace_of("split output oh " + std::to_string(block) + "\nsplit output ow " +
                  std::to_string(tile) + "\nfuse output n oh.0\nparallel output n*oh.0\n");
}

schedule::Trace channels(int tile) {
  return trace_of("split output oc 2\nsplit output ow " + std::to_string(tile) +
                  "\nparallel output oc.0\n");
}

space::Candidate timed(schedule::Trace trace, double us) {
  return {.trace = std::move(trace), .time_us = us};
}

TEST(Alternatives, TheDivisionIsThatOfTheParallelLoops) {
  EXPECT_EQ(division_of_work(rows(4, 2)), division_of_work(rows(4, 7)));
  EXPECT_NE(division_of_work(rows(4, 2)), division_of_work(rows(2, 2)));
  EXPECT_NE(division_of_work(rows(2, 2)), division_of_work(channels(2)));
  const schedule::Trace other = trace_of("algorithm gemm\n" + schedule::to_string(channels(2)));
  EXPECT_NE(division_of_work(other), division_of_work(channels(2)));
}

TEST(Alternatives, OtherDivisionsComeFirstThenTheFastest) {
  const std::vector<space::Candidate> fastest{timed(rows(4, 2), 100),  timed(rows(4, 3), 101),
                                              timed(rows(4, 4), 102),  timed(channels(2), 103),
                                              timed(channels(3), 104), timed(rows(2, 2), 105)};
  const std::vector<schedule::Trace> chosen = alternatives(rows(4, 3), fastest, 6);
  ASSERT_EQ(chosen.size(), 6U);
  const std::vector<schedule::Trace> expected{rows(4, 3), channels(2), rows(2, 2),
                                              rows(4, 2), rows(4, 4),  channels(3)};
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    EXPECT_EQ(schedule::to_string(chosen[i]), schedule::to_string(expected[i])) << i;
  }
}

TEST(Alternatives, DivisionsLeaveRoomForTheFastest) {
  const std::vector<space::Candidate> fastest{timed(rows(8, 2), 100), timed(rows(8, 3), 101),
                                              timed(rows(4, 2), 102), timed(rows(2, 2), 103)};
  const std::vector<schedule::Trace> chosen = alternatives(rows(8, 2), fastest, 3);
  ASSERT_EQ(chosen.size(), 3U);
  EXPECT_EQ(schedule::to_string(chosen[1]), schedule::to_string(rows(4, 2)));
  EXPECT_EQ(schedule::to_string(chosen[2]), schedule::to_string(rows(8, 3)));
}

TEST(Alternatives, WhatIsMuchSlowerIsLeftOut) {
  const std::vector<space::Candidate> fastest{timed(rows(4, 2), 100), timed(rows(4, 3), 106),
                                              timed(channels(2), 111), timed(rows(2, 2), 113)};
  const std::vector<schedule::Trace> chosen = alternatives(rows(4, 2), fastest, 8);
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_EQ(schedule::to_string(chosen[1]), schedule::to_string(channels(2)));
}

TEST(Alternatives, TheBestAloneWhenNothingWasTimed) {
  EXPECT_EQ(alternatives(rows(4, 2), {}, 8).size(), 1U);
  EXPECT_EQ(alternatives(rows(4, 2), {timed(rows(4, 2), 100)}, 8).size(), 1U);
}

}  // namespace
}  // namespace attune::whole_model

#include "tuner/space/template_space.h"

#include <gtest/gtest.h>

#include <set>

#include "tuner/space/limits.h"
#include "tuner/space/sample_template_testing.h"

namespace attune::space {
namespace {

Point point(const TemplateSpace& space, const std::string& config) {
  return {0, parse_config(space.knobs(0), config).value()};
}

TEST(TemplateSpace, PointsAreCountedAndIndexed) {
  const TemplateSpace space = sample_space();
  EXPECT_EQ(space.size(), space.knobs(0)[0].choices.size() * 5 * 4 * 2);
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    EXPECT_EQ(space.index_of(space.point_at(i)), i);
  }
}

TEST(TemplateSpace, AlgorithmsCompeteAndNameThemselves) {
  const TemplateSpace space(
      {{"direct", sample_program(8, 16, 8)}, {"other", sample_program(8, 16, 8)}},
      {&kSampleTemplate, 1}, sample_target());
  ASSERT_EQ(space.alternatives(), 2u);
  const auto defaults = space.defaults();
  ASSERT_EQ(defaults.size(), 2u);
  EXPECT_NE(schedule::to_string(space.trace_of(defaults[0])).substr(0, 9), "algorithm");
  EXPECT_EQ(schedule::to_string(space.trace_of(defaults[1])[0]), "algorithm other");
  EXPECT_EQ(space.to_string(defaults[1]), "other product: rows=4 vectors=3 steps=4 pack=1");
  EXPECT_EQ(space.index_of(defaults[1]), space.size() / 2 + space.index_of(defaults[0]));
}

TEST(TemplateSpace, WithoutAFittingTemplateItIsEmpty) {
  const Template never{"never", +[](const ir::Program&) { return false; }, nullptr,
                       Writes::Steps(nullptr), nullptr};
  const TemplateSpace space({{"direct", sample_program(8, 8, 8)}}, {&never, 1}, sample_target());
  EXPECT_EQ(space.size(), 0u);
  EXPECT_TRUE(space.defaults().empty());
}

TEST(TemplateSpace, NeighboursDifferInOneChoice) {
  const TemplateSpace space = sample_space();
  const Point from = space.defaults()[0];
  std::set<std::uint64_t> all;
  for (const Point& other : space.neighbours(from)) {
    int differences = 0;
    for (std::size_t k = 0; k < from.choices.size(); ++k) {
      differences += from.choices[k] != other.choices[k];
    }
    EXPECT_EQ(differences, 1);
    all.insert(space.index_of(other));
  }
  Rng rng(1);
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(all.contains(space.index_of(space.neighbour(from, rng))));
  }
}

TEST(TemplateSpace, HopelessPointsAreRejectedWithAReason) {
  const TemplateSpace space = sample_space();
  EXPECT_TRUE(space.schedule_of(point(space, "rows=4 vectors=3 steps=4 pack=1")).ok());
  EXPECT_TRUE(space.schedule_of(point(space, "rows=6 vectors=2 steps=1 pack=0")).ok());
  EXPECT_EQ(space.schedule_of(point(space, "rows=1 vectors=1 steps=4 pack=1")).error().message,
            "too few accumulators");
  EXPECT_EQ(space.schedule_of(point(space, "rows=8 vectors=2 steps=4 pack=1")).error().message,
            "the register tile spills");
}

TEST(TemplateSpace, TheRegisterRuleHoldsTheSmallerOperand) {
  const TemplateSpace space = sample_space();
  // 4 x 3: 12 accumulators, 3 vectors held, 1 broadcast streamed: exactly 16 registers.
  EXPECT_TRUE(space.schedule_of(point(space, "rows=4 vectors=3 steps=1 pack=1")).ok());
  // 3 x 4: 12 accumulators, 3 broadcasts held.
  EXPECT_TRUE(space.schedule_of(point(space, "rows=3 vectors=4 steps=1 pack=1")).ok());
  // 7 x 2: 14 + 2 + 1 = 17.
  EXPECT_FALSE(space.schedule_of(point(space, "rows=7 vectors=2 steps=1 pack=1")).ok());
}

TEST(TemplateSpace, WhatIsHopelessButPossibleCanBeAllowed) {
  const TemplateSpace space({{"direct", sample_program(64, 96, 64)}}, {&kSampleTemplate, 1},
                            sample_target(), Rejection::Impossible);
  EXPECT_TRUE(space.schedule_of(point(space, "rows=1 vectors=1 steps=4 pack=1")).ok());
  EXPECT_TRUE(space.schedule_of(point(space, "rows=8 vectors=2 steps=4 pack=1")).ok());
}

TEST(TemplateSpace, UnrolledCodeIsBounded) {
  const TemplateSpace space = sample_space();
  const auto scheduled = space.schedule_of(point(space, "rows=4 vectors=3 steps=8 pack=1"));
  ASSERT_TRUE(scheduled.ok());
  const Limits tight{.unrolled_statements = 64};
  EXPECT_EQ(find_flaw(scheduled->state, scheduled->bounds, space.target(), tight),
            "too much unrolled code");
  const Limits small{.workspace_bytes = 1024};
  EXPECT_EQ(find_flaw(scheduled->state, scheduled->bounds, space.target(), small),
            "a buffer exceeds the memory");
}

}  // namespace
}  // namespace attune::space

#include "tuner/space/knob.h"

#include <gtest/gtest.h>

namespace attune::space {
namespace {

std::vector<std::string> texts(const Knob& knob) {
  std::vector<std::string> all;
  for (const Choice& choice : knob.choices) all.push_back(to_string(choice));
  return all;
}
using Texts = std::vector<std::string>;

TEST(Knob, FactorsLeaveNoRest) {
  EXPECT_EQ(texts(split_by("t", {.extent = 12})), (Texts{"1", "2", "3", "4", "6", "12"}));
  EXPECT_EQ(texts(split_by("t", {.extent = 6, .parts = 3})),
            (Texts{"1x1", "1x2", "1x3", "1x6", "2x1", "2x3", "3x1", "3x2", "6x1"}));
  EXPECT_EQ(texts(split_by("t", {.extent = 12, .max_product = 4})), (Texts{"1", "2", "3", "4"}));
  EXPECT_EQ(texts(split_by("t", {.extent = 6, .parts = 3, .max_factor = 2})),
            (Texts{"1x1", "1x2", "2x1"}));
  EXPECT_EQ(texts(split_by("t", {.extent = 6, .parts = 3, .min_innermost = 2})),
            (Texts{"1x2", "1x3", "1x6", "2x3", "3x2"}));
}

TEST(Knob, FactorsWithTailsMayMultiplyToAnything) {
  EXPECT_EQ(texts(split_by("t", {.extent = 6, .parts = 3, .tails = true})),
            (Texts{"1x1", "1x2", "1x3", "1x6", "2x1", "2x2", "2x3", "3x1", "3x2", "6x1"}));
}

TEST(Knob, PowersOfTwoReachTheExtent) {
  const SplitPolicy policy = SplitPolicy::PowersOfTwo;
  EXPECT_EQ(texts(split_by("t", {.extent = 6, .policy = policy, .tails = true})),
            (Texts{"1", "2", "4", "8"}));
  EXPECT_EQ(texts(split_by("t", {.extent = 6, .policy = policy})), (Texts{"1", "2"}));
  EXPECT_EQ(texts(split_by("t", {.extent = 64, .policy = policy, .max_product = 16})),
            (Texts{"1", "2", "4", "8", "16"}));
}

TEST(Knob, VerboseSplitsAreBothAndAllAreAll) {
  EXPECT_EQ(texts(split_by("t", {.extent = 6, .policy = SplitPolicy::Verbose, .tails = true})),
            (Texts{"1", "2", "3", "4", "6", "8"}));
  EXPECT_EQ(texts(split_by("t", {.extent = 5, .policy = SplitPolicy::All, .tails = true})),
            (Texts{"1", "2", "3", "4", "5"}));
}

TEST(Knob, OrdersByPolicy) {
  EXPECT_EQ(texts(reorder_all("r", 3)),
            (Texts{"0x1x2", "0x2x1", "1x0x2", "1x2x0", "2x0x1", "2x1x0"}));
  EXPECT_EQ(texts(reorder_interleaved("r", {2, 1})), (Texts{"0x1x2", "0x2x1", "2x0x1"}));
  EXPECT_EQ(reorder_interleaved("r", {3, 2}).choices.size(), 10u);
}

TEST(Knob, AnnotationsByPolicy) {
  EXPECT_EQ(texts(annotate_loops("a", 2, AnnotatePolicy::Unroll)), (Texts{"1x1"}));
  EXPECT_EQ(texts(annotate_loops("a", 2, AnnotatePolicy::Vectorize)), (Texts{"0x2"}));
  EXPECT_EQ(texts(annotate_loops("a", 2, AnnotatePolicy::TryUnroll)), (Texts{"0x0", "0x1", "1x1"}));
  EXPECT_EQ(texts(annotate_loops("a", 2, AnnotatePolicy::TryVectorize)), (Texts{"0x0", "0x2"}));
  EXPECT_EQ(texts(annotate_loops("a", 2, AnnotatePolicy::TryBoth)),
            (Texts{"0x0", "0x1", "1x1", "0x2", "1x2"}));
}

TEST(Knob, EvenTailsAreTilesOfNearlyEqualWidth) {
  EXPECT_EQ(texts(split_even_tails("t", 14, 14)), (Texts{"1", "2", "3", "4", "5", "7", "14"}));
  EXPECT_EQ(texts(split_even_tails("t", 7, 6)), (Texts{"1", "2", "3", "4"}));
}

TEST(Knob, ListsAreCutAndUnique) {
  EXPECT_EQ(texts(split_list("t", 10, {4, 8, 16, 32})), (Texts{"4", "8", "10"}));
  EXPECT_EQ(texts(choice_of("c", {0, 1, 0})), (Texts{"0", "1"}));
  EXPECT_EQ(texts(reorder_among("r", {{0, 1}, {1, 0}})), (Texts{"0x1", "1x0"}));
}

TEST(Knob, ChoicesParseBack) {
  for (const Choice& choice : {Choice{{6}}, Choice{{4, 16}}, Choice{{-1}}}) {
    EXPECT_EQ(parse_choice(to_string(choice)), choice);
  }
  for (const char* text : {"", "x", "4x", "x4", "4y2", "four", "4 "}) {
    EXPECT_FALSE(parse_choice(text)) << text;
  }
}

TEST(Knob, NearestChoiceIsByRatio) {
  const Knob knob = split_list("t", 1000, {1, 4, 64});
  EXPECT_EQ(nearest_choice(knob, {{5}}), 1u);
  EXPECT_EQ(nearest_choice(knob, {{20}}), 2u);
  EXPECT_EQ(nearest_choice(knob, {{64}}), 2u);
}

}  // namespace
}  // namespace attune::space

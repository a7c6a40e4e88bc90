#include "tuner/features/features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tuner/features/loop_tree.h"
#include "tuner/space/sample_template_testing.h"

namespace attune::features {
namespace {

using space::TemplateSpace;

space::Scheduled scheduled(const TemplateSpace& space, const std::string& config) {
  return space.schedule_of({0, space::parse_config(space.knobs(0), config).value()}).value();
}

std::vector<float> features_of(Kind kind, const space::Scheduled& point,
                               const target::Target& target = space::sample_target()) {
  std::vector<float> values(width(kind));
  extract(kind, point, target, values);
  return values;
}

void perform(space::Scheduled& point, const schedule::Step& step) {
  ASSERT_TRUE(schedule::perform(point.state, step).ok());
  point.bounds = schedule::infer_bounds(point.state, schedule::Mins::Leave).value();
}

TEST(Features, AreFiniteAndTellPointsApart) {
  const TemplateSpace space = space::sample_space();
  Rng rng(7);
  for (Kind kind : {Kind::Context, Kind::Relation}) {
    std::vector<float> last;
    int different = 0;
    for (int i = 0; i < 200; ++i) {
      const auto point = space.schedule_of(space.sample(rng));
      if (!point.ok()) continue;
      const std::vector<float> now = features_of(kind, *point);
      for (float value : now) ASSERT_TRUE(std::isfinite(value));
      different += now != last;
      last = now;
    }
    EXPECT_GT(different, 50) << to_string(kind);
  }
}

TEST(Features, RelationDoesNotSeeHowDeepTheNestIs) {
  const TemplateSpace space = space::sample_space();
  const space::Scheduled point = scheduled(space, "rows=4 vectors=3 steps=4 pack=0");
  space::Scheduled deeper = point;
  perform(deeper, schedule::Split{"output", "i.0", {1}});
  perform(deeper, schedule::Split{"anchor", "k.0", {1}});
  EXPECT_EQ(features_of(Kind::Relation, point), features_of(Kind::Relation, deeper));
  EXPECT_NE(features_of(Kind::Context, point), features_of(Kind::Context, deeper));
}

TEST(Features, RelationSeesTilesThreadsAndCaches) {
  const TemplateSpace space = space::sample_space();
  const space::Scheduled point = scheduled(space, "rows=4 vectors=3 steps=4 pack=0");
  const std::vector<float> base = features_of(Kind::Relation, point);
  EXPECT_NE(base, features_of(Kind::Relation, scheduled(space, "rows=6 vectors=2 steps=4 pack=0")));
  EXPECT_NE(base, features_of(Kind::Relation, scheduled(space, "rows=4 vectors=3 steps=4 pack=1")));
  target::Target two = space::sample_target();
  two.threads = 2;
  EXPECT_NE(base, features_of(Kind::Relation, point, two));
  target::Target small = space::sample_target();
  small.l1_bytes = 1024;
  EXPECT_NE(base, features_of(Kind::Relation, point, small));
}

TEST(Features, NotesOfLoopsAreSeen) {
  const TemplateSpace space = space::sample_space();
  const space::Scheduled point = scheduled(space, "rows=4 vectors=3 steps=4 pack=0");
  space::Scheduled noted = point;
  perform(noted, schedule::Annotate{"anchor", "k.0", "prefetch", "next"});
  EXPECT_NE(features_of(Kind::Relation, point), features_of(Kind::Relation, noted));
  EXPECT_NE(features_of(Kind::Context, point), features_of(Kind::Context, noted));
}

TEST(Features, RelationOfTheSameTilesIsNearAcrossShapes) {
  const auto distance = [](const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
    return sum;
  };
  const TemplateSpace small = space::sample_space(96, 96, 64);
  const TemplateSpace large = space::sample_space(192, 192, 64);
  const std::string good = "rows=4 vectors=3 steps=4 pack=1",
                    bad = "rows=2 vectors=1 steps=1 pack=0";
  const auto here = features_of(Kind::Relation, scheduled(small, good));
  EXPECT_LT(distance(here, features_of(Kind::Relation, scheduled(large, good))),
            distance(here, features_of(Kind::Relation, scheduled(small, bad))));
}

TEST(Features, ContextBeginsWithTheVectorLoop) {
  const TemplateSpace space = space::sample_space();
  const auto values =
      features_of(Kind::Context, scheduled(space, "rows=4 vectors=3 steps=4 pack=0"));
  EXPECT_EQ(values[0], std::log2(8.0F));  // its length
  EXPECT_EQ(values[1], 0);                // not parallel
  EXPECT_EQ(values[2], 1);                // vectorised
}

TEST(Features, KnobsAreTheNumbersChosen) {
  const TemplateSpace space = space::sample_space();
  ASSERT_EQ(width(Kind::Knob, space), 5);
  std::vector<float> a(5), b(5);
  const auto& knobs = space.knobs(0);
  extract_knobs(space, {0, space::parse_config(knobs, "rows=4 vectors=3 steps=4 pack=0").value()},
                a);
  extract_knobs(space, {0, space::parse_config(knobs, "rows=4 vectors=3 steps=4 pack=1").value()},
                b);
  EXPECT_EQ(a, (std::vector<float>{0, std::log2(5.0F), 2, std::log2(5.0F), 0}));
  EXPECT_EQ(b[4], 1);
}

TEST(Features, NamesAreParsed) {
  EXPECT_EQ(parse_kind("relation").value(), Kind::Relation);
  EXPECT_EQ(parse_kind("curve").error().message, "unknown features 'curve'");
}

TEST(LoopTree, HoldsEveryLoopOnceBelowTheLoopItRunsIn) {
  const TemplateSpace space = space::sample_space();
  const space::Scheduled point = scheduled(space, "rows=4 vectors=3 steps=4 pack=1");
  const LoopTree tree = loop_tree(point, space::sample_target());
  std::size_t loops = 0;
  for (const auto& stage : point.state.stages) loops += stage->loops.size();
  ASSERT_EQ(tree.size(), 1 + loops);
  ASSERT_EQ(tree.context.size(), tree.size() * loop_tree_width());
  EXPECT_EQ(tree.parent[0], -1);
  std::vector<int> children(tree.size());
  for (std::size_t i = 1; i < tree.size(); ++i) {
    ASSERT_LT(tree.parent[i], static_cast<int>(i));
    ++children[static_cast<std::size_t>(tree.parent[i])];
  }
  EXPECT_EQ(children[0], 2);  // the packing, and the product
  // The product runs inside of the second loop of the output, beside the rest of its loops.
  EXPECT_EQ(children[2], 2);
}

TEST(LoopTree, LeavesOutWhatIsComputedAhead) {
  ir::Program program = space::sample_program(64, 96, 64);
  program.inputs[1].constant = true;
  const TemplateSpace space({{"direct", program}}, {&space::kSampleTemplate, 1},
                            space::sample_target());
  const auto packed =
      loop_tree(scheduled(space, "rows=4 vectors=3 steps=4 pack=1"), space::sample_target());
  const auto plain =
      loop_tree(scheduled(space, "rows=4 vectors=3 steps=4 pack=0"), space::sample_target());
  EXPECT_EQ(packed.parent, plain.parent);
}

}  // namespace
}  // namespace attune::features

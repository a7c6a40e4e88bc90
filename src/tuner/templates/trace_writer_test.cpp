#include "tuner/templates/trace_writer.h"

#include <gtest/gtest.h>

#include "tuner/space/config.h"

namespace attune::templates {
namespace {

// Every choice of the knobs of a nest, in steps: two loops split in parts, the parts in every order
// that keeps those of a loop as they are, the innermost two annotated.
schedule::Trace nest(const space::Values& values) {
  TraceWriter t;
  schedule::Names loops = t.split_as("output", "i", values.numbers("i"));
  for (std::string& loop : t.split_as("output", "j", values.numbers("j"))) {
    loops.push_back(std::move(loop));
  }
  schedule::Names ordered;
  for (const std::int64_t place : values.numbers("order")) {
    ordered.push_back(loops[static_cast<std::size_t>(place)]);
  }
  t.reorder("output", ordered);
  t.annotate_as("output", {ordered.end() - 2, ordered.end()}, values.numbers("loops"));
  return t.take();
}

std::vector<space::Knob> nest_knobs() {
  return {space::split_by("i", {.extent = 7, .policy = space::SplitPolicy::All, .tails = true}),
          space::split_by("j", {.extent = 12, .parts = 3}),
          space::reorder_interleaved("order", {2, 3}),
          space::annotate_loops("loops", 2, space::AnnotatePolicy::TryBoth)};
}

TEST(TraceWriter, ChoicesBecomeSteps) {
  const space::Settings settings{
      {"i", {{5}}}, {"j", {{2, 3}}}, {"order", {{2, 0, 3, 1, 4}}}, {"loops", {{1, 2}}}};
  EXPECT_EQ(schedule::to_string(nest(space::Values(settings))),
            "split output i 5\n"
            "split output j 2 3\n"
            "reorder output j.0 i.0 j.1 i.1 j.2\n"
            "unroll output i.1\n"
            "vectorize output j.2\n");
  TraceWriter none;
  none.annotate_as("output", {"i", "j"}, std::vector<std::int64_t>{0, 0});
  EXPECT_TRUE(none.take().empty());
}

// All 7 x 18 x 10 x 5 points are legal schedules, and no two the same.
TEST(TraceWriter, PointsOfANestAreLegalAndDiffer) {
  ir::Program program{"copy", {}, {}, {}};
  const ir::Buffer in = ir::add_input(program, "in", ir::kF32, {7, 12});
  program.outputs = {ir::add_compute(program, "output", {{"i", 7}, {"j", 12}},
                                     ir::load(in, {ir::var("i"), ir::var("j")}))};
  const std::vector<space::Knob> knobs = nest_knobs();
  ASSERT_EQ(space::config_count(knobs), 7u * 18u * 10u * 5u);
  std::set<std::uint64_t> traces;
  for (std::uint64_t i = 0; i < space::config_count(knobs); ++i) {
    const space::Config config = space::config_at(knobs, i);
    ASSERT_EQ(space::index_of(knobs, config), i);
    const schedule::Trace trace = nest(space::Values(knobs, config));
    traces.insert(schedule::hash(trace));
    ASSERT_TRUE(schedule::replay(program, trace).ok()) << space::to_string(knobs, config);
  }
  EXPECT_EQ(traces.size(), space::config_count(knobs));
}

}  // namespace
}  // namespace attune::templates

#include <gtest/gtest.h>

#include "compiler/graph/passes/interpret_testing.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

using Shape = std::vector<std::int64_t>;

Graph simplified(const Graph& graph) {
  const auto after = simplify_views(graph, {});
  EXPECT_TRUE(after.ok());
  EXPECT_EQ(difference(graph, *after), "");
  return *after;
}

TensorType f32(Shape shape) { return {ir::kF32, std::move(shape), {}}; }

// The graph of one output from a chain of nodes on x.
class Chain {
 public:
  explicit Chain(const Shape& shape) : value_(builder_.input("x", f32(shape))) {}
  Chain& then(const std::string& op, Attributes attributes) {
    value_ = *builder_.add(op, {value_}, std::move(attributes));
    return *this;
  }
  Graph done() { return std::move(builder_).finish({value_}); }

 private:
  Builder builder_{"chain"};
  ValueId value_;
};

Attributes slice(Shape starts, Shape steps, Shape shape) {
  return {{"starts", std::move(starts)}, {"steps", std::move(steps)}, {"shape", std::move(shape)}};
}

TEST(SimplifyViews, JoinsReshapes) {
  Graph graph = Chain({2, 3, 4})
                    .then("reshape", {{"shape", Shape{6, 4}}})
                    .then("reshape", {{"shape", Shape{4, 6}}})
                    .done();
  EXPECT_EQ(sketch(simplified(graph)),
            "%1 = reshape(%0) {shape=[4,6]}\n"
            "return %1\n");
}

TEST(SimplifyViews, JoinsTransposes) {
  Graph graph = Chain({2, 3, 4})
                    .then("transpose", {{"perm", Shape{2, 0, 1}}})
                    .then("transpose", {{"perm", Shape{0, 2, 1}}})
                    .done();
  EXPECT_EQ(sketch(simplified(graph)),
            "%1 = transpose(%0) {perm=[2,1,0]}\n"
            "return %1\n");
}

TEST(SimplifyViews, MakesTransposesOfSingleElementsReshapes) {
  Graph graph = Chain({2, 1, 4, 1}).then("transpose", {{"perm", Shape{1, 0, 3, 2}}}).done();
  EXPECT_EQ(sketch(simplified(graph)),
            "%1 = reshape(%0) {shape=[1,2,1,4]}\n"
            "return %1\n");
}

TEST(SimplifyViews, CancelsTransposes) {
  Graph graph = Chain({2, 3, 4})
                    .then("slice", slice({0, 1, 0}, {1, 1, 1}, {2, 2, 4}))
                    .then("transpose", {{"perm", Shape{2, 0, 1}}})
                    .then("transpose", {{"perm", Shape{1, 2, 0}}})
                    .done();
  EXPECT_EQ(sketch(simplified(graph)),
            "%1 = slice(%0) {shape=[2,2,4], starts=[0,1,0], steps=[1,1,1]}\n"
            "return %1\n");
}

TEST(SimplifyViews, DropsWhatDoesNothing) {
  Graph graph = Chain({2, 3})
                    .then("slice", slice({1, 0}, {1, 2}, {1, 2}))
                    .then("reshape", {{"shape", Shape{1, 2}}})
                    .then("transpose", {{"perm", Shape{0, 1}}})
                    .then("slice", slice({0, 0}, {1, 1}, {1, 2}))
                    .then("pad", {{"pads", Shape{0, 0, 0, 0}}, {"mode", "constant"}})
                    .then("expand", {{"shape", Shape{1, 2}}})
                    .then("tile", {{"repeats", Shape{1, 1}}})
                    .then("concat", {{"axis", std::int64_t{0}}})
                    .done();
  EXPECT_EQ(simplified(graph).nodes.size(), 1U);
}

TEST(SimplifyViews, KeepsAnOutputThatIsAnInput) {
  Graph graph = Chain({2, 3}).then("reshape", {{"shape", Shape{2, 3}}}).done();
  EXPECT_EQ(sketch(simplified(graph)),
            "%1 = reshape(%0) {shape=[2,3]}\n"
            "return %1\n");
}

TEST(SimplifyViews, JoinsSlicesAndReversals) {
  Graph graph =
      Chain({10}).then("slice", slice({9}, {-2}, {5})).then("slice", slice({3}, {-1}, {3})).done();
  EXPECT_EQ(sketch(simplified(graph)),
            "%1 = slice(%0) {shape=[3], starts=[3], steps=[2]}\n"
            "return %1\n");
}

TEST(SimplifyViews, SlicesTheRightPartOfAConcatenation) {
  Builder builder("parts");
  const ValueId x = builder.input("x", f32({2, 3})), y = builder.input("y", f32({2, 4}));
  const ValueId both = *builder.add("concat", {x, y}, {{"axis", std::int64_t{1}}});
  const ValueId all = *builder.add("slice", {both}, slice({0, 3}, {1, 1}, {2, 4}));
  const ValueId some = *builder.add("slice", {both}, slice({0, 1}, {1, 1}, {2, 2}));
  const ValueId mixed = *builder.add("slice", {both}, slice({0, 2}, {1, 1}, {2, 2}));
  const ValueId sum = *builder.add("add", {*builder.add("add", {some, mixed}), some});
  const ValueId twice = *builder.add("add", {all, all});
  EXPECT_EQ(sketch(simplified(std::move(builder).finish({sum, twice}))),
            "%2 = concat(%0, %1) {axis=1}\n"
            "%3 = slice(%2) {shape=[2,2], starts=[0,2], steps=[1,1]}\n"
            "%4 = slice(%0) {shape=[2,2], starts=[0,1], steps=[1,1]}\n"
            "%5 = add(%4, %3)\n"
            "%6 = add(%5, %4)\n"
            "%7 = add(%1, %1)\n"
            "return %6, %7\n");
}

TEST(SimplifyViews, FlattensConcatenations) {
  Builder builder("parts");
  const ValueId x = builder.input("x", f32({2, 3})), y = builder.input("y", f32({2, 0}));
  const ValueId both = *builder.add("concat", {x, y}, {{"axis", std::int64_t{1}}});
  const ValueId three = *builder.add("concat", {both, x}, {{"axis", std::int64_t{1}}});
  EXPECT_EQ(sketch(simplified(std::move(builder).finish({three}))),
            "%2 = concat(%0, %0) {axis=1}\n"
            "return %2\n");
}

TEST(SimplifyViews, LetsArithmeticBroadcast) {
  Builder builder("broadcast");
  const ValueId x = builder.input("x", f32({2, 3})), y = builder.input("y", f32({1, 3}));
  const ValueId wide = *builder.add("expand", {y}, {{"shape", Shape{2, 3}}});
  const ValueId sum = *builder.add("add", {x, wide}), twice = *builder.add("add", {wide, wide});
  EXPECT_EQ(sketch(simplified(std::move(builder).finish({sum, twice}))),
            "%2 = expand(%1) {shape=[2,3]}\n"
            "%3 = add(%0, %1)\n"
            "%4 = add(%1, %2)\n"
            "return %3, %4\n");
}

}  // namespace
}  // namespace attune::graph

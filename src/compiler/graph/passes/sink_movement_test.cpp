#include <gtest/gtest.h>

#include "compiler/graph/passes/interpret_testing.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

using Shape = std::vector<std::int64_t>;

TensorType f32(Shape shape) { return {ir::kF32, std::move(shape), {}}; }

std::string sunk(Builder& builder, const std::vector<ValueId>& outputs) {
  const Graph graph = std::move(builder).finish(outputs);
  const auto after = sink_movement(graph, {});
  EXPECT_TRUE(after.ok());
  EXPECT_EQ(difference(graph, *after), "");
  return sketch(*after);
}

ValueId transposed(Builder& builder, ValueId x, Shape perm) {
  return *builder.add("transpose", {x}, {{"perm", std::move(perm)}});
}

ValueId constant(Builder& builder, Shape shape) {
  return builder.constant(random_constant(f32(std::move(shape)), 7));
}

TEST(SinkMovement, PutsTransposesBehindArithmetic) {
  Builder builder("transposes");
  const ValueId x = builder.input("x", f32({2, 3, 4})), y = builder.input("y", f32({2, 3, 4}));
  const ValueId a = transposed(builder, x, {0, 2, 1}), b = transposed(builder, y, {0, 2, 1});
  const ValueId sum = *builder.add("add", {a, b});
  const ValueId scaled = *builder.add("mul", {constant(builder, {3}), sum});
  EXPECT_EQ(sunk(builder, {*builder.add("mul", {scaled, constant(builder, {2, 1, 1})})}),
            "%2 = add(%0, %1)\n"
            "%3 = mul(f32[1,3,1], %2)\n"
            "%4 = mul(%3, f32[2,1,1])\n"
            "%5 = transpose(%4) {perm=[0,2,1]}\n"
            "return %5\n");
}

TEST(SinkMovement, PutsReshapesBehindArithmetic) {
  Builder builder("reshapes");
  const ValueId x = builder.input("x", f32({6, 4}));
  ValueId y = *builder.add("reshape", {x}, {{"shape", Shape{2, 3, 4}}});
  y = *builder.add("add", {y, constant(builder, {1, 4})});
  y = *builder.add("mul", {y, builder.constant(ops::filled_constant(f32({1, 1, 1}), 3))});
  EXPECT_EQ(sunk(builder, {y}),
            "%1 = add(%0, f32[4])\n"
            "%2 = mul(%1, 3)\n"
            "%3 = reshape(%2) {shape=[2,3,4]}\n"
            "return %3\n");
}

TEST(SinkMovement, PutsReshapesOfOnesBehindAllArithmetic) {
  Builder builder("channels");
  const ValueId x = builder.input("x", f32({2, 3, 1, 4}));
  const ValueId y = *builder.add("reshape", {x}, {{"shape", Shape{2, 3, 4}}});
  EXPECT_EQ(sunk(builder, {*builder.add("add", {y, constant(builder, {3, 1})})}),
            "%1 = add(%0, f32[1,3,1,1])\n"
            "%2 = reshape(%1) {shape=[2,3,4]}\n"
            "return %2\n");
}

TEST(SinkMovement, StopsWhereOperandsDiffer) {
  Builder builder("mixed");
  const ValueId x = builder.input("x", f32({2, 3, 3})), y = builder.input("y", f32({2, 3, 3}));
  const ValueId a = transposed(builder, x, {0, 2, 1}), b = transposed(builder, y, {1, 0, 2});
  const ValueId c = *builder.add("reshape", {x}, {{"shape", Shape{3, 6}}});
  EXPECT_EQ(sunk(builder, {*builder.add("mul", {a, y}), *builder.add("mul", {b, b}),
                           *builder.add("add", {c, constant(builder, {3, 1})}),
                           *builder.add("add", {b, constant(builder, {2, 3})})}),
            "%2 = transpose(%0) {perm=[0,2,1]}\n"
            "%3 = transpose(%1) {perm=[1,0,2]}\n"
            "%4 = reshape(%0) {shape=[3,6]}\n"
            "%5 = mul(%2, %1)\n"
            "%6 = mul(%3, %3)\n"
            "%7 = add(%4, f32[3,1])\n"
            "%8 = add(%3, f32[2,3])\n"
            "return %5, %6, %7, %8\n");
}

TEST(SinkMovement, PassesConcatenationsSlicesAndPads) {
  Builder builder("borders");
  const ValueId x = builder.input("x", f32({2, 3, 4})), y = builder.input("y", f32({2, 5, 4}));
  const ValueId a = transposed(builder, x, {2, 0, 1}), b = transposed(builder, y, {2, 0, 1});
  ValueId z = *builder.add("concat", {a, b}, {{"axis", std::int64_t{2}}});
  z = *builder.add(
      "slice", {z},
      {{"starts", Shape{1, 0, 2}}, {"steps", Shape{1, 1, 3}}, {"shape", Shape{2, 2, 2}}});
  z = *builder.add("pad", {z}, {{"pads", Shape{1, 0, 2, 0, 0, 3}}, {"mode", "constant"}});
  EXPECT_EQ(sunk(builder, {z}),
            "%2 = concat(%0, %1) {axis=1}\n"
            "%3 = slice(%2) {shape=[2,2,2], starts=[0,2,1], steps=[1,3,1]}\n"
            "%4 = pad(%3) {mode=constant, pads=[0,2,1,0,3,0]}\n"
            "%5 = transpose(%4) {perm=[2,0,1]}\n"
            "return %5\n");
}

TEST(SinkMovement, PassesReshapesOfOnesAndPads) {
  Builder builder("ones");  // an image without its batch dimension, channels last, is padded
  const ValueId x = builder.input("x", f32({1, 3, 4, 5}));
  ValueId y = transposed(builder, *builder.add("mul", {x, x}), {0, 2, 3, 1});
  y = *builder.add("reshape", {y}, {{"shape", Shape{4, 5, 3}}});
  y = *builder.add("pad", {y}, {{"pads", Shape{1, 2, 0, 3, 4, 0}}, {"mode", "constant"}});
  y = *builder.add("reshape", {y}, {{"shape", Shape{1, 8, 11, 3}}});
  y = transposed(builder, y, {0, 3, 1, 2});
  const Graph graph = std::move(builder).finish({y});
  const auto after = optimise(graph);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(difference(graph, *after), "");
  EXPECT_EQ(sketch(*after),
            "%1 = mul(%0, %0)\n"
            "%2 = pad(%1) {mode=constant, pads=[0,0,1,2,0,0,3,4]}\n"
            "return %2\n");
}

}  // namespace
}  // namespace attune::graph

#include "compiler/graph/layouts/layouts.h"

#include <gtest/gtest.h>

#include "compiler/graph/builder.h"

namespace attune::graph {
namespace {

using Ints = std::vector<std::int64_t>;

ValueId conv(Builder& builder, ValueId data, std::int64_t channels) {
  const ValueId weight = builder.constant(
      ops::filled_constant({ir::kF32, {channels, builder.shape(data)[1], 1, 1}, {}}, 1));
  return *builder.add("conv", {data, weight},
                      {{"kernel_shape", Ints{1, 1}},
                       {"strides", Ints{1, 1}},
                       {"pads", Ints{0, 0, 0, 0}},
                       {"dilations", Ints{1, 1}},
                       {"group", std::int64_t{1}}});
}

TEST(AssignLayouts, StaysBlockedBetweenConvolutions) {
  Builder builder("two");
  const ValueId x = builder.input("x", {ir::kF32, {1, 16, 4, 4}, {}});
  const ValueId first = conv(builder, x, 32);
  const ValueId sum = *builder.add("add", {first, first});
  const ValueId second = conv(builder, sum, 8);
  builder.rename(second, "y");
  const Graph graph = assign_layouts(std::move(builder).finish({second}), 8);
  ASSERT_TRUE(verify(graph).ok());
  int moves = 0;
  for (const Node& node : graph.nodes) moves += node.op == "relayout" ? 1 : 0;
  EXPECT_EQ(moves, 2);  // in and out
  EXPECT_EQ(graph.value(sum).layout.block, 8);
  EXPECT_FALSE(graph.value(graph.outputs[0]).layout.is_blocked());
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "y");
}

TEST(AssignLayouts, StaysBlockedWhenAnImageIsEnlarged) {
  Builder builder("enlarged");
  const ValueId x = builder.input("x", {ir::kF32, {1, 16, 4, 4}, {}});
  const ValueId larger =
      *builder.add("repeat", {conv(builder, x, 32)}, {{"repeats", Ints{1, 1, 2, 2}}});
  const ValueId y = conv(builder, larger, 8);
  const Graph graph = assign_layouts(std::move(builder).finish({y}), 8);
  ASSERT_TRUE(verify(graph).ok());
  EXPECT_EQ(graph.value(larger).layout.block, 8);
}

TEST(AssignLayouts, LeavesImagesOfOneChannelPlain) {
  Builder builder("map");
  const ValueId x = builder.input("x", {ir::kF32, {1, 16, 4, 80}, {}});
  const ValueId first = conv(builder, x, 32);
  const ValueId one = conv(builder, first, 1), four = conv(builder, first, 4);
  const Graph graph = assign_layouts(std::move(builder).finish({one, four}), 16);
  ASSERT_TRUE(verify(graph).ok());
  EXPECT_FALSE(graph.value(one).layout.is_blocked());
  EXPECT_EQ(graph.value(four).layout.block, 16);
}

TEST(LayOut, ChangesBlocksBetweenConvolutionsThatDiffer) {
  Builder builder("three");
  const ValueId x = builder.input("x", {ir::kF32, {1, 16, 4, 4}, {}});
  const ValueId first = conv(builder, x, 32);
  const ValueId second = conv(builder, *builder.add("relu", {first}), 24);
  const ValueId sum = *builder.add("add", {second, conv(builder, second, 24)});
  const Graph graph = std::move(builder).finish({sum});
  const Layouts usual = lay_out(graph, {16});
  ASSERT_EQ(usual.convolutions.size(), 3u);
  EXPECT_EQ(usual.convolutions[1], second);
  ASSERT_EQ(usual.links.size(), 3u);  // in a row, and by the sum
  const Layouts mixed = lay_out(graph, {16, {{second, 8}, {usual.convolutions[2], 8}}});
  ASSERT_TRUE(verify(mixed.graph).ok());
  int moves = 0;
  for (const Node& node : mixed.graph.nodes) moves += node.op == "relayout" ? 1 : 0;
  EXPECT_EQ(moves, 3);  // in, between, out
  EXPECT_EQ(mixed.graph.value(first).layout.block, 16);
  EXPECT_EQ(mixed.graph.value(second).layout.block, 8);
  EXPECT_EQ(mixed.graph.value(sum).layout.block, 8);
}

}  // namespace
}  // namespace attune::graph

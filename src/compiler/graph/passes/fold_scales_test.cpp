#include <gtest/gtest.h>

#include <cmath>

#include "compiler/graph/passes/interpret_testing.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

using Shape = std::vector<std::int64_t>;

TensorType f32(Shape shape) { return {ir::kF32, std::move(shape), {}}; }

Graph folded(const Graph& graph) {
  const auto after = fold_scales(graph, {});
  EXPECT_TRUE(after.ok());
  EXPECT_EQ(difference(graph, *after), "");
  return *after;
}

Attributes geometry(std::int64_t group) {
  return {{"kernel_shape", Shape{3}},
          {"strides", Shape{1}},
          {"pads", Shape{1, 1}},
          {"dilations", Shape{1}},
          {"group", group}};
}

Attributes transposed(std::int64_t group) {
  Attributes attributes = geometry(group);
  attributes["output_padding"] = Shape{0};
  attributes["strides"] = Shape{2};
  return attributes;
}

ValueId weights(Builder& builder, Shape shape, unsigned seed) {
  return builder.constant(random_constant(f32(std::move(shape)), seed));
}

TEST(FoldScales, TakesProductsAndSumsIntoAConvolution) {
  Builder builder("conv");
  const ValueId x = builder.input("x", f32({2, 4, 5}));
  ValueId y = *builder.add("conv", {x, weights(builder, {6, 2, 3}, 1)}, geometry(2));
  y = *builder.add("mul", {y, weights(builder, {6, 1}, 2)});
  y = *builder.add("add", {weights(builder, {1, 6, 1}, 3), y});
  y = *builder.add("mul", {weights(builder, {}, 4), y});
  y = *builder.add("add", {y, weights(builder, {1}, 5)});
  EXPECT_EQ(sketch(folded(std::move(builder).finish({y}))),
            "%1 = conv(%0, f32[6,2,3], f32[6]) {dilations=[1], group=2, kernel_shape=[3], "
            "pads=[1,1], strides=[1]}\n"
            "return %1\n");
}

TEST(FoldScales, TakesThemIntoTransposedConvolutions) {
  Builder builder("conv");
  const ValueId x = builder.input("x", f32({1, 4, 5}));
  ValueId y =
      *builder.add("conv_transpose", {x, weights(builder, {4, 3, 3}, 1), weights(builder, {6}, 6)},
                   transposed(2));
  y = *builder.add("mul", {y, weights(builder, {6, 1}, 2)});
  y = *builder.add("add", {y, weights(builder, {6, 1}, 3)});
  EXPECT_EQ(folded(std::move(builder).finish({y})).nodes.size(), 1U);
}

TEST(FoldScales, LeavesWhatOthersReadAndOtherDimensions) {
  Builder builder("conv");
  const ValueId x = builder.input("x", f32({1, 4, 5}));
  const ValueId seen = *builder.add("conv", {x, weights(builder, {5, 4, 3}, 1)}, geometry(1));
  const ValueId y = *builder.add("mul", {seen, weights(builder, {5, 1}, 2)});
  const ValueId other = *builder.add("conv", {x, weights(builder, {5, 4, 3}, 3)}, geometry(1));
  const ValueId z = *builder.add("mul", {other, weights(builder, {5}, 2)});
  const ValueId wide = *builder.add("conv", {x, weights(builder, {1, 4, 3}, 4)}, geometry(1));
  const ValueId w = *builder.add("mul", {wide, weights(builder, {5, 1}, 2)});
  EXPECT_EQ(folded(std::move(builder).finish({seen, y, z, w})).nodes.size(), 6U);
}

TEST(FoldScales, TakesThemIntoMatrices) {
  Builder builder("matmul");
  const ValueId x = builder.input("x", f32({2, 3, 4}));
  ValueId y = *builder.add("matmul", {x, weights(builder, {4, 5}, 1)});
  y = *builder.add("add", {y, weights(builder, {5}, 2)});
  y = *builder.add("mul", {y, weights(builder, {1, 5}, 3)});
  EXPECT_EQ(sketch(folded(std::move(builder).finish({y}))),
            "%1 = matmul(%0, f32[4,5])\n"
            "%2 = add(%1, f32[5])\n"
            "return %2\n");
}

TEST(ExpandBatchNorm, FoldsIntoTheConvolutionBefore) {
  Builder builder("norm");
  const ValueId x = builder.input("x", f32({1, 4, 5}));
  const ValueId y = *builder.add("conv", {x, weights(builder, {6, 4, 3}, 1)}, geometry(1));
  const ValueId variance = builder.constant(ops::filled_constant(f32({6}), 2));
  const ValueId z = *builder.add(
      "batch_norm",
      {y, weights(builder, {6}, 2), weights(builder, {6}, 3), weights(builder, {6}, 4), variance},
      {{"epsilon", 0.125}});
  const Graph graph = std::move(builder).finish({z});
  const auto expanded = expand_batch_norm(graph, {});
  ASSERT_TRUE(expanded.ok());
  EXPECT_EQ(difference(graph, *expanded), "");
  EXPECT_EQ(expanded->nodes.size(), 3U);
  EXPECT_EQ(folded(*expanded).nodes.size(), 1U);
}

Graph padded(const std::string& op, Shape pads, ConstantPtr fill, Attributes attributes) {
  Builder builder("padded");
  const ValueId x = builder.input("x", f32({1, 2, 6}));
  std::vector<ValueId> inputs{x};
  if (fill != nullptr) inputs.push_back(builder.constant(std::move(fill)));
  const ValueId wide =
      *builder.add("pad", inputs, {{"pads", std::move(pads)}, {"mode", "constant"}});
  std::vector<ValueId> operands{wide};
  if (op == "conv") operands.push_back(weights(builder, {3, 2, 3}, 1));
  return std::move(builder).finish({*builder.add(op, operands, std::move(attributes))});
}

Attributes pool() {
  Attributes attributes = geometry(1);
  attributes.erase("group");
  return attributes;
}

Attributes averages(std::int64_t counted) {
  Attributes attributes = pool();
  attributes["count_include_pad"] = std::int64_t{counted > 0};
  attributes["counted_pads"] = Shape{counted, counted};
  return attributes;
}

std::size_t nodes_left(const Graph& graph) {
  const auto after = fold_padding(graph, {});
  EXPECT_TRUE(after.ok());
  EXPECT_EQ(difference(graph, *after), "");
  return after->nodes.size();
}

TEST(FoldPadding, TakesZerosIntoConvolutionsAndAverages) {
  EXPECT_EQ(nodes_left(padded("conv", {0, 0, 1, 0, 0, 2}, nullptr, geometry(1))), 1U);
  EXPECT_EQ(nodes_left(
                padded("conv", {0, 0, 0, 0, 0, 2}, ops::scalar_constant(ir::kF32, 0), geometry(1))),
            1U);
  EXPECT_EQ(nodes_left(padded("average_pool", {0, 0, 1, 0, 0, 0}, nullptr, averages(1))), 1U);
}

TEST(FoldPadding, LooksThroughReshapesOfOnes) {
  Builder builder("row");
  const ValueId x = builder.input("x", f32({2, 6}));
  const ValueId wide =
      *builder.add("pad", {x}, {{"pads", Shape{0, 1, 0, 2}}, {"mode", "constant"}});
  const ValueId image = *builder.add("reshape", {wide}, {{"shape", Shape{1, 2, 9}}});
  const ValueId y = *builder.add("conv", {image, weights(builder, {3, 2, 3}, 1)}, geometry(1));
  const Graph graph = std::move(builder).finish({y});
  const auto after = fold_padding(graph, {});
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(difference(graph, *after), "");
  EXPECT_EQ(sketch(*after),
            "%1 = reshape(%0) {shape=[1,2,6]}\n"
            "%2 = conv(%1, f32[3,2,3]) {dilations=[1], group=1, kernel_shape=[3], pads=[2,3], "
            "strides=[1]}\n"
            "return %2\n");
}

TEST(FoldPadding, LeavesBordersThatDiffer) {
  const auto fill = [](double value) { return ops::scalar_constant(ir::kF32, value); };
  EXPECT_EQ(nodes_left(padded("conv", {0, 0, 1, 0, 0, 2}, fill(1), geometry(1))), 2U);
  EXPECT_EQ(nodes_left(padded("conv", {0, 0, 50, 0, 0, 2}, nullptr, geometry(1))), 2U);
  EXPECT_EQ(nodes_left(padded("max_pool", {0, 0, 1, 0, 0, 1}, nullptr, pool())), 2U);
  EXPECT_EQ(nodes_left(padded("max_pool", {0, 0, 1, 0, 0, 1}, fill(-INFINITY), pool())), 1U);
  EXPECT_EQ(nodes_left(padded("average_pool", {0, 0, 1, 0, 0, 2}, nullptr, averages(0))), 2U);
  EXPECT_EQ(nodes_left(padded("average_pool", {0, 1, 1, 0, 0, 2}, nullptr, averages(1))), 2U);
  EXPECT_EQ(nodes_left(padded("average_pool", {0, 0, -1, 0, 0, 2}, nullptr, averages(1))), 2U);
}

}  // namespace
}  // namespace attune::graph

#include <gtest/gtest.h>

#include "compiler/graph/passes/interpret_testing.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

using Shape = std::vector<std::int64_t>;

TensorType f32(Shape shape) { return {ir::kF32, std::move(shape), {}}; }

ValueId constant(Builder& builder, Shape shape, unsigned seed) {
  return builder.constant(random_constant(f32(std::move(shape)), seed));
}

// A projection of x to two heads.
ValueId heads(Builder& builder, ValueId x, unsigned seed, std::int64_t width) {
  ValueId y = *builder.add("matmul", {x, constant(builder, {8, 2 * width}, seed)});
  y = *builder.add("add", {y, constant(builder, {2 * width}, seed + 1)});
  y = *builder.add("reshape", {y}, {{"shape", Shape{1, 5, 2, width}}});
  return *builder.add("transpose", {y}, {{"perm", Shape{0, 2, 1, 3}}});
}

TEST(CombineProducts, OfQueriesKeysAndValues) {
  Builder builder("attention");
  const ValueId x = builder.input("x", f32({1, 5, 8}));
  const std::vector<ValueId> outputs{heads(builder, x, 1, 4), heads(builder, x, 3, 4),
                                     heads(builder, x, 5, 6)};
  const Graph graph = std::move(builder).finish(outputs);
  const auto after = combine_products(graph, {});
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(difference(graph, *after), "");
  EXPECT_EQ(sketch(*after),
            "%1 = matmul(%0, f32[8,28])\n"
            "%2 = add(%1, f32[28])\n"
            "%3 = slice(%2) {shape=[1,5,8], starts=[0,0,0], steps=[1,1,1]}\n"
            "%4 = reshape(%3) {shape=[1,5,2,4]}\n"
            "%5 = transpose(%4) {perm=[0,2,1,3]}\n"
            "%6 = slice(%2) {shape=[1,5,8], starts=[0,0,8], steps=[1,1,1]}\n"
            "%7 = reshape(%6) {shape=[1,5,2,4]}\n"
            "%8 = transpose(%7) {perm=[0,2,1,3]}\n"
            "%9 = slice(%2) {shape=[1,5,12], starts=[0,0,16], steps=[1,1,1]}\n"
            "%10 = reshape(%9) {shape=[1,5,2,6]}\n"
            "%11 = transpose(%10) {perm=[0,2,1,3]}\n"
            "return %5, %8, %11\n");
}

TEST(CombineProducts, NotWhereSlicesWouldCost) {
  Builder builder("plain");
  const ValueId x = builder.input("x", f32({5, 8}));
  const ValueId a = *builder.add("matmul", {x, constant(builder, {8, 3}, 1)});
  const ValueId b = *builder.add("matmul", {x, constant(builder, {8, 3}, 2)});
  const Graph graph = std::move(builder).finish({*builder.add("mul", {a, b})});
  EXPECT_EQ(combine_products(graph, {})->nodes.size(), 3U);
}

// A 1x1 convolution to 16 channels and a ReLU.
ValueId pointwise(Builder& builder, ValueId x, unsigned seed, std::int64_t stride) {
  const ValueId y = *builder.add("conv", {x, constant(builder, {16, 3, 1}, seed)},
                                 {{"kernel_shape", Shape{1}},
                                  {"strides", Shape{stride}},
                                  {"pads", Shape{0, 0}},
                                  {"dilations", Shape{1}},
                                  {"group", std::int64_t{1}}});
  return *builder.add("relu", {y});
}

TEST(CombineConvolutions, OfBranchesWithOneInput) {
  Builder builder("branches");
  const ValueId x = builder.input("x", f32({1, 3, 4}));
  const ValueId a = pointwise(builder, x, 1, 1), b = pointwise(builder, x, 2, 1);
  const ValueId other = pointwise(builder, x, 3, 2), joined = pointwise(builder, x, 4, 1);
  const ValueId both =
      *builder.add("concat", {joined, *builder.add("mul", {a, b})}, {{"axis", std::int64_t{1}}});
  const Graph graph = std::move(builder).finish({both, *builder.add("tanh", {other})});
  const auto after = combine_convolutions(graph, {});
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(difference(graph, *after), "");
  std::string operators;
  for (const Node& node : after->nodes) operators += node.op + " ";
  EXPECT_EQ(operators, "conv relu conv relu conv relu slice slice mul concat tanh ");
}

TEST(HoistScales, OfAttentionIntoTheWeights) {
  Builder builder("attention");
  const ValueId x = builder.input("x", f32({1, 5, 8}));
  const ValueId q = heads(builder, x, 1, 4);
  const ValueId k =
      *builder.add("transpose", {heads(builder, x, 3, 4)}, {{"perm", Shape{0, 1, 3, 2}}});
  const ValueId scores = *builder.add("matmul", {q, k});
  const ValueId scale = builder.constant(ops::scalar_constant(ir::kF32, 0.5));
  const Graph graph = std::move(builder).finish({*builder.add("mul", {scores, scale})});
  const auto hoisted = hoist_scales(graph, {});
  ASSERT_TRUE(hoisted.ok());
  EXPECT_EQ(difference(graph, *hoisted), "");
  EXPECT_EQ(hoisted->nodes.back().op, "matmul");
  const auto folded = fold_scales(*hoisted, {});
  ASSERT_TRUE(folded.ok());
  EXPECT_EQ(difference(graph, *folded), "");
  EXPECT_EQ(folded->nodes.size(), graph.nodes.size() - 1);
}

std::string expanded(const std::string& equation, Shape left, Shape right) {
  Builder builder("einsum");
  const ValueId a = builder.input("a", f32(std::move(left)));
  const ValueId b = builder.input("b", f32(std::move(right)));
  const Graph graph =
      std::move(builder).finish({*builder.add("einsum", {a, b}, {{"equation", equation}})});
  const auto after = expand_einsum(graph, {});
  EXPECT_TRUE(after.ok());
  EXPECT_EQ(difference(graph, *after), "");
  const auto all = optimise(*after);
  EXPECT_TRUE(all.ok());
  EXPECT_EQ(difference(graph, *all), "");
  return sketch(*all);
}

TEST(ExpandEinsum, MatrixProducts) {
  EXPECT_EQ(expanded("ik,kj->ij", {3, 4}, {4, 5}), "%2 = matmul(%0, %1)\nreturn %2\n");
  EXPECT_EQ(expanded("bhqd,bhkd->bhqk", {2, 3, 4, 5}, {2, 3, 6, 5}),
            "%2 = transpose(%1) {perm=[0,1,3,2]}\n"
            "%3 = matmul(%0, %2)\n"
            "return %3\n");
  EXPECT_EQ(expanded("bqhd,bkhd->bhqk", {2, 4, 3, 5}, {2, 6, 3, 5}),
            "%2 = transpose(%0) {perm=[0,2,1,3]}\n"
            "%3 = transpose(%1) {perm=[0,2,3,1]}\n"
            "%4 = matmul(%2, %3)\n"
            "return %4\n");
  EXPECT_EQ(expanded("abc,cde->adbe", {2, 3, 4}, {4, 5, 6}),
            "%2 = reshape(%0) {shape=[6,4]}\n"
            "%3 = reshape(%1) {shape=[4,30]}\n"
            "%4 = matmul(%2, %3)\n"
            "%5 = reshape(%4) {shape=[2,3,5,6]}\n"
            "%6 = transpose(%5) {perm=[0,2,1,3]}\n"
            "return %6\n");
}

TEST(ExpandEinsum, LeavesTracesSumsAndBroadcasts) {
  EXPECT_NE(expanded("ii,ij->j", {3, 3}, {3, 5}).find("einsum"), std::string::npos);
  EXPECT_NE(expanded("ik,j->j", {3, 3}, {5}).find("einsum"), std::string::npos);
  EXPECT_NE(expanded("ik,kj->ij", {3, 1}, {4, 5}).find("einsum"), std::string::npos);
}

}  // namespace
}  // namespace attune::graph

// Which nodes become one kernel, and what the kernel reads.
#include "compiler/graph/tasks/fusion.h"

#include <gtest/gtest.h>

#include "compiler/graph/builder.h"
#include "compiler/graph/layouts/layouts.h"
#include "compiler/graph/tasks/operators_testing.h"
#include "compiler/graph/tasks/tasks.h"
#include "compiler/ir/text/print.h"

namespace attune::graph {
namespace {

using Ints = std::vector<std::int64_t>;

ValueId part(Builder& builder, ValueId x, std::int64_t start, std::int64_t size) {
  Ints shape = builder.shape(x);
  Ints starts(shape.size(), 0), steps(shape.size(), 1);
  starts.back() = start;
  shape.back() = size;
  return *builder.add("slice", {x}, {{"starts", starts}, {"steps", steps}, {"shape", shape}});
}

ValueId heads(Builder& builder, ValueId x, const Ints& perm) {
  const ValueId apart = *builder.add("reshape", {x}, {{"shape", Ints{1, 6, 2, 4}}});
  return *builder.add("transpose", {apart}, {{"perm", perm}});
}

TEST(Fusion, ProductsReadRowsThroughMovement) {
  Builder builder("attention");
  const ValueId x = builder.input("x", {ir::kF32, {1, 6, 16}, {}});
  const ValueId queries = heads(builder, part(builder, x, 0, 8), {0, 2, 1, 3});
  const ValueId keys = heads(builder, part(builder, x, 8, 8), {0, 2, 3, 1});
  const ValueId scores = *builder.add("matmul", {queries, keys});
  const Graph graph = std::move(builder).finish({scores});
  EXPECT_EQ(operators_of(graph), (std::vector<std::string>{"slice+reshape+transpose",
                                                           "slice+reshape+transpose+matmul"}));
  const auto groups = fuse(graph, find_pieces(graph));
  const auto task = make_task(graph, groups.back());
  ASSERT_TRUE(task.ok()) << task.error().message;
  EXPECT_EQ(task->inputs, (std::vector<ValueId>{graph.nodes.back().inputs[1], x}));
  EXPECT_NE(ir::to_string(task->op.program)
                .find("stage a(d0: 2, d1: 6, d2: 4) = operand0[0, d1, d0 * 4 + d2]"),
            std::string::npos)
      << ir::to_string(task->op.program);
}

// Sizes that depend on data: each of these runs by itself.
TEST(Fusion, WhatRunsOnTheHostStandsAlone) {
  Builder builder("host");
  const ValueId x = builder.input("x", {ir::kF32, {8}, {}});
  const ValueId scale = *builder.add("exp", {builder.input("s", {ir::kF32, {1}, {}})});
  const ValueId kept =
      *builder.add("compress", {x, builder.input("keep", {ir::kBool, {8}, {}})},
                   {{"axis", std::int64_t{0}}, {"extent", std::int64_t{builder.new_extent()}}});
  const ValueId scaled = *builder.add("mul", {kept, scale});
  const ValueId sum = *builder.add("add", {scaled, kept});
  const ValueId result = *builder.add("relu", {sum});
  const Graph graph = std::move(builder).finish({result});
  EXPECT_EQ(operators_of(graph),
            (std::vector<std::string>{"exp", "compress", "mul", "add", "relu"}));
}

TEST(Fusion, MovementThatOthersReadStaysApart) {
  Builder builder("shared");
  const ValueId x = builder.input("x", {ir::kF32, {1, 6, 8}, {}});
  const ValueId y = builder.input("y", {ir::kF32, {1, 2, 4, 3}, {}});
  const ValueId moved = heads(builder, x, {0, 2, 1, 3});
  const ValueId product = *builder.add("matmul", {moved, y});
  const Graph graph = std::move(builder).finish({product, moved});
  EXPECT_EQ(operators_of(graph), (std::vector<std::string>{"reshape", "transpose", "matmul"}));
}

ops::Attributes window(std::int64_t kernel, std::int64_t groups) {
  const std::int64_t pad = kernel / 2;
  return {{"kernel_shape", Ints{kernel, kernel}},
          {"strides", Ints{1, 1}},
          {"pads", Ints{pad, pad, pad, pad}},
          {"dilations", Ints{1, 1}},
          {"group", groups}};
}

// A convolution of one tap, an activation, and a depthwise convolution; the result of the
// activation is an output of its own where `shared`.
Graph separable(bool shared) {
  Builder builder("separable");
  const ValueId x = builder.input("x", {ir::kF32, {1, 8, 6, 6}, {}});
  const auto constant = [&](const Ints& shape) {
    return builder.constant(ops::make_constant(ir::Array(ir::kF32, shape)));
  };
  const ValueId wide = *builder.add("conv", {x, constant({16, 8, 1, 1})}, window(1, 1));
  const ValueId active = *builder.add("relu", {wide});
  const ValueId windows = *builder.add("conv", {active, constant({16, 1, 3, 3})}, window(3, 16));
  const ValueId last = *builder.add("relu", {windows});
  std::vector<ValueId> outputs{last};
  if (shared) outputs.push_back(active);
  return assign_layouts(std::move(builder).finish(outputs), 8);
}

TEST(Fusion, ChainsProductsWithDepthwiseConvolutions) {
  const Graph graph = separable(false);
  const auto groups = fuse(graph, find_pieces(graph));
  EXPECT_EQ(operators_of(graph),
            (std::vector<std::string>{"relayout", "conv+relu+conv+relu", "relayout"}));
  const auto task = make_task(graph, groups[1]);
  ASSERT_TRUE(task.ok()) << task.error().message;
  EXPECT_EQ(task->name, "conv2d+relu+depthwise+relu 1x16x6x6");
  EXPECT_EQ(task->inputs.size(), 3U);
  for (const char* stage : {"before.anchor", "before.output", "anchor", "output"}) {
    EXPECT_NE(task->op.program.find_stage(stage), nullptr) << stage;
  }
  EXPECT_TRUE(ir::verify(task->op.program).ok());
}

TEST(Fusion, ChainsAreLeftOutWhereTheyDoNotPay) {
  const Graph graph = separable(false);
  EXPECT_EQ(fuse(graph, find_pieces(graph), {.chains = false}).size(),
            fuse(graph, find_pieces(graph)).size() + 1);
}

TEST(Fusion, ResultsThatOthersReadAreNotChained) {
  EXPECT_EQ(
      operators_of(separable(true)),
      (std::vector<std::string>{"relayout", "conv+relu", "conv+relu", "relayout", "relayout"}));
}

}  // namespace
}  // namespace attune::graph

#include <gtest/gtest.h>

#include "compiler/graph/passes/interpret_testing.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

const TensorType kHalves{ir::kF16, {4, 8}, {}};
const Attributes kToF32{{"to", std::string("f32")}}, kToF16{{"to", std::string("f16")}};

// What the pass makes of a graph, which computes the same but for roundings.
std::string widened(Builder builder, ValueId y) {
  const Graph graph = std::move(builder).finish({y});
  const auto after = widen_halves(graph, {});
  EXPECT_TRUE(after.ok());
  EXPECT_EQ(difference(graph, *after, 4e-3), "");
  const auto again = widen_halves(*after, {});
  EXPECT_EQ(sketch(*again), sketch(*after)) << "the pass has an end";
  return sketch(*after);
}

TEST(WidenHalves, ConvertsInputsAndOutputsOnce) {
  Builder b("chain");
  const ValueId x = b.input("x", kHalves);
  const ValueId y = *b.add("mul", {x, b.constant(ops::scalar_constant(ir::kF16, 0.5))});
  const ValueId out = *b.add("add", {*b.add("tanh", {y}), x});
  EXPECT_EQ(widened(std::move(b), out),
            "%1 = cast(%0) {to=f32}\n"
            "%2 = mul(%1, 0.5)\n"
            "%3 = tanh(%2)\n"
            "%4 = add(%3, %1)\n"
            "%5 = cast(%4) {to=f16}\n"
            "return %5\n");
}

TEST(WidenHalves, WeightsAreConvertedAhead) {
  Builder b("product");
  const ValueId x = b.input("x", kHalves);
  const ValueId w = b.constant(random_constant({ir::kF16, {8, 2}, {}}, 1));
  const ValueId out = *b.add("matmul", {x, w});
  EXPECT_EQ(widened(std::move(b), out),
            "%1 = cast(%0) {to=f32}\n"
            "%2 = matmul(%1, f32[8,2])\n"
            "%3 = cast(%2) {to=f16}\n"
            "return %3\n");
}

TEST(WidenHalves, KeepsRoundingsThatTheModelAsksFor) {
  Builder b("rounding");
  const ValueId x = b.input("x", {ir::kF32, {4, 8}, {}});
  const ValueId rounded = *b.add("cast", {x}, kToF16);
  const ValueId y = *b.add("tanh", {rounded});
  const ValueId out = *b.add("cast", {y}, kToF32);
  EXPECT_EQ(widened(std::move(b), out),
            "%1 = cast(%0) {to=f16}\n"
            "%2 = cast(%1) {to=f32}\n"
            "%3 = tanh(%2)\n"
            "%4 = cast(%3) {to=f32}\n"
            "return %4\n");
}

TEST(WidenHalves, WhatIsOnlyMovedStaysSmall) {
  Builder b("rows");
  const ValueId rows = b.input("rows", {ir::kI64, {3}, {}});
  const ValueId table = b.constant(random_constant({ir::kF16, {16, 8}, {}}, 1));
  const ValueId taken = *b.add("gather", {table, rows}, {{"axis", std::int64_t{0}}});
  const ValueId out = *b.add("tanh", {taken});
  EXPECT_EQ(widened(std::move(b), out),
            "%1 = gather(f16[16,8], %0) {axis=0}\n"
            "%2 = cast(%1) {to=f32}\n"
            "%3 = tanh(%2)\n"
            "%4 = cast(%3) {to=f16}\n"
            "return %4\n");
}

TEST(WidenHalves, MovesWhatIsWideAlready) {
  Builder b("moved");
  const ValueId x = b.input("x", kHalves);
  const ValueId y = *b.add("tanh", {x});
  const ValueId moved = *b.add("transpose", {y}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  const ValueId out = *b.add("greater", {moved, moved});
  EXPECT_EQ(widened(std::move(b), out),
            "%1 = cast(%0) {to=f32}\n"
            "%2 = tanh(%1)\n"
            "%3 = transpose(%2) {perm=[1,0]}\n"
            "%4 = greater(%3, %3)\n"
            "return %4\n");
}

}  // namespace
}  // namespace attune::graph

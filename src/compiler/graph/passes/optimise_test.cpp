#include <gtest/gtest.h>

#include "compiler/graph/passes/interpret_testing.h"
#include "compiler/graph/passes/passes.h"

namespace attune::graph {
namespace {

const TensorType kRow{ir::kF32, {2, 3}, {}};

Attributes shape(std::vector<std::int64_t> extents) { return {{"shape", std::move(extents)}}; }

Graph wasteful() {
  Builder builder("wasteful");
  const ValueId x = builder.input("x", kRow);
  const ValueId unused = builder.input("unused", kRow);
  const ValueId zero = builder.constant(ops::scalar_constant(ir::kF32, 0), "zero");
  const ValueId one = builder.constant(ops::filled_constant({ir::kF32, {3}, {}}, 1), "one");
  const ValueId two = builder.constant(ops::scalar_constant(ir::kF32, 2), "two");
  const ValueId same = *builder.add("add", {zero, x});
  const ValueId flat = *builder.add("reshape", {same}, shape({6}));
  const ValueId back = *builder.add("reshape", {flat}, shape({2, 3}));
  const ValueId scaled = *builder.add("mul", {two, *builder.add("mul", {back, one})});
  const ValueId again = *builder.add("mul", {x, two});
  const ValueId less = *builder.add("sub", {*builder.add("mul", {again, two}), two});
  (void)*builder.add("mul", {x, unused});
  const ValueId sum = *builder.add("add", {scaled, less});
  builder.rename(sum, "y");
  return std::move(builder).finish({sum});
}

TEST(Optimise, ReachesAFixedPoint) {
  const Graph before = wasteful();
  const auto after = optimise(before);
  ASSERT_TRUE(after.ok()) << after.error().message;
  EXPECT_EQ(difference(before, *after), "");
  EXPECT_EQ(sketch(*after),
            "%2 = mul(%0, 2)\n"
            "%3 = mul(%0, 4)\n"
            "%4 = add(%3, -2)\n"
            "%5 = add(%2, %4)\n"
            "return %5\n");
}

TEST(Optimise, LeavesOutPassesByNameAndShowsTheRest) {
  std::vector<std::string> seen;
  PassOptions options;
  for (const Pass& pass : passes()) {
    if (pass.name != "remove_dead_code") options.disabled.emplace_back(pass.name);
  }
  options.observe = [&](std::string_view pass, const Graph& graph, double ms) {
    seen.emplace_back(pass);
    EXPECT_TRUE(verify(graph).ok());
    EXPECT_GE(ms, 0);
  };
  const auto after = optimise(wasteful(), options);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->nodes.size(), wasteful().nodes.size() - 1);
  EXPECT_EQ(seen, (std::vector<std::string>{"remove_dead_code", "remove_dead_code"}));
}

TEST(Optimise, RefusesUnknownPassNames) {
  const auto after = optimise(wasteful(), {{"unroll"}, {}, {}});
  ASSERT_FALSE(after.ok());
  EXPECT_EQ(after.error().message, "there is no graph pass 'unroll'");
}

TEST(Optimise, TakesLongChains) {
  Builder builder("chain");
  ValueId x = builder.input("x", kRow);
  const ValueId one = builder.constant(ops::scalar_constant(ir::kF32, 1), "one");
  for (int i = 0; i < 5000; ++i) x = *builder.add("mul", {*builder.add("add", {x, one}), x});
  const auto after = optimise(std::move(builder).finish({x}));
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->nodes.size(), 10000U);
}

}  // namespace
}  // namespace attune::graph

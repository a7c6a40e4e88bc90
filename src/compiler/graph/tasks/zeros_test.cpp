#include "compiler/graph/tasks/zeros.h"

#include <gtest/gtest.h>

#include "compiler/graph/builder.h"
#include "compiler/graph/constants.h"
#include "compiler/graph/tasks/tasks.h"

namespace attune::graph {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kSize = 128;

// A product with weights, and what a model makes of it.
class ZerosTest : public testing::Test {
 protected:
  Builder builder_{"zeros"};
  ValueId weights_ = builder_.constant(
      real_constant({ir::kF32, {kSize, kSize}, {}}, std::vector<double>(kSize* kSize, 1)));
  ValueId rows_ =
      *builder_.add("matmul", {builder_.input("x", {ir::kF32, {kSize, kSize}, {}}), weights_});

  ValueId constant(double value) {
    return builder_.constant(real_constant({ir::kF32, {1}, {}}, {value}));
  }
  ValueId add(std::string op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return *builder_.add(std::move(op), std::move(inputs), std::move(attributes));
  }
  ValueId reduced(const std::string& op, ValueId x) {
    return add(op, {x}, {{"axes", Ints{1}}, {"keepdims", std::int64_t{1}}});
  }

  // Whether the product must keep its zeros.
  bool keeps(ValueId output) {
    const Graph graph = std::move(builder_).finish({output});
    return values_with_exact_zeros(graph)[static_cast<std::size_t>(rows_)];
  }
};

TEST_F(ZerosTest, MatterToAModelThatDividesByTheLengthOfARow) {
  const ValueId length = add("clip", {reduced("reduce_l2", rows_), constant(1e-12), kNoValue});
  EXPECT_TRUE(keeps(add("div", {rows_, length})));
}

TEST_F(ZerosTest, MatterBehindMovementAndABiasWithZeros) {
  const ValueId bias =
      builder_.constant(real_constant({ir::kF32, {kSize}, {}}, std::vector<double>(kSize, 0)));
  const ValueId moved = add("transpose", {add("add", {rows_, bias})}, {{"perm", Ints{1, 0}}});
  EXPECT_TRUE(keeps(add("reciprocal", {moved})));
}

TEST_F(ZerosTest, DoNotMatterWhereAConstantHidesTheNoise) {
  const ValueId variance = reduced("reduce_mean", add("mul", {rows_, rows_}));
  const ValueId deviation = add("sqrt", {add("add", {variance, constant(1e-5)})});
  EXPECT_FALSE(keeps(add("div", {rows_, deviation})));
}

TEST_F(ZerosTest, MatterWhereTheConstantIsTooSmall) {
  const ValueId variance = reduced("reduce_mean", add("mul", {rows_, rows_}));
  const ValueId deviation = add("sqrt", {add("add", {variance, constant(1e-9)})});
  EXPECT_TRUE(keeps(add("div", {rows_, deviation})));
}

TEST_F(ZerosTest, DoNotMatterToSumsOfExponentials) {
  const ValueId powers = add("exp", {rows_});
  EXPECT_FALSE(keeps(add("div", {powers, reduced("reduce_sum", powers)})));
}

TEST_F(ZerosTest, DoNotMatterBesideOtherData) {
  const ValueId other = builder_.input("y", {ir::kF32, {kSize, kSize}, {}});
  EXPECT_FALSE(keeps(add("reciprocal", {add("add", {rows_, other})})));
}

TEST_F(ZerosTest, MatterToComparisonsWithZeroOnly) {
  EXPECT_TRUE(keeps(add("greater", {add("clip", {rows_, kNoValue, constant(6)}), constant(0)})));
}

TEST_F(ZerosTest, DoNotMatterToOtherThresholds) {
  EXPECT_FALSE(keeps(add("greater", {rows_, constant(0.25)})));
}

TEST_F(ZerosTest, ExcludeAlgorithmsThatMixAndMakeATaskOfItsOwn) {
  const Graph graph = std::move(builder_).finish({rows_});
  const auto groups = fuse(graph, find_pieces(graph));
  const auto free = make_task(graph, groups.front());
  const auto bound = make_task(graph, groups.front(), std::vector<bool>(graph.values.size(), true));
  ASSERT_TRUE(free.ok() && bound.ok());
  const auto mixes = [](const ops::AlgorithmDef& algorithm) { return algorithm.mixes; };
  const auto& all = free->op.alternatives;
  ASSERT_TRUE(std::any_of(all.begin(), all.end(), mixes)) << "of no use as an example";
  EXPECT_TRUE(bound->op.alternatives.size() < all.size());
  EXPECT_TRUE(std::none_of(bound->op.alternatives.begin(), bound->op.alternatives.end(), mixes));
  EXPECT_NE(free->key, bound->key);
}

}  // namespace
}  // namespace attune::graph

#include "compiler/graph/graph.h"

#include <gtest/gtest.h>

#include "compiler/graph/builder.h"

namespace attune::graph {
namespace {

TEST(Builder, InfersTypesAndPrints) {
  Builder builder("small");
  const ValueId x = builder.input("x", {ir::kF32, {2, 3}, {}});
  const ValueId bias = builder.constant(ops::filled_constant({ir::kF32, {3}, {}}, 1), "bias");
  const ValueId sum = *builder.add("add", {x, bias});
  const ValueId flat = *builder.add("reshape", {sum}, {{"shape", std::vector<std::int64_t>{6}}});
  const Graph graph = std::move(builder).finish({flat});
  ASSERT_TRUE(verify(graph).ok());
  EXPECT_EQ(to_string(graph),
            "graph small\n"
            "  input %x : f32[2,3]\n"
            "  %add = add(%x, %bias) {} : f32[2,3]\n"
            "  %reshape = reshape(%add) {shape=[6]} : f32[6]\n"
            "  return %reshape\n");
}

TEST(Builder, ComputesSmallConstantsAtOnce) {
  Builder builder("constants");
  const ValueId a = builder.constant(ops::make_constant({1, 2, 3}));
  const ValueId b = builder.constant(ops::make_constant({10}));
  const ValueId product = *builder.add("mul", {a, b});
  ASSERT_NE(builder.constant_of(product), nullptr);
  EXPECT_EQ(ops::integers(*builder.constant_of(product)), (std::vector<std::int64_t>{10, 20, 30}));
}

TEST(Builder, SaysWhatDoesNotBroadcast) {
  Builder builder("wrong");
  const ValueId a = builder.input("a", {ir::kF32, {2, 3}, {}});
  const ValueId b = builder.input("b", {ir::kF32, {4}, {}});
  const auto sum = builder.add("add", {a, b});
  ASSERT_FALSE(sum.ok());
  EXPECT_EQ(sum.error().message, "shapes [2,3] and [4] do not broadcast");
}

}  // namespace
}  // namespace attune::graph

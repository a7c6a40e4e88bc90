#include <gtest/gtest.h>

#include "compiler/graph/passes/interpret_testing.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

TensorType f32(std::vector<std::int64_t> shape) { return {ir::kF32, std::move(shape), {}}; }

std::string simplified(Builder& builder, ValueId output) {
  const Graph graph = std::move(builder).finish({output});
  const auto after = simplify_arithmetic(graph, {});
  EXPECT_TRUE(after.ok());
  EXPECT_EQ(difference(graph, *after), "");
  return sketch(*after);
}

ValueId number(Builder& builder, double value) {
  return builder.constant(ops::scalar_constant(ir::kF32, value));
}

TEST(SimplifyArithmetic, DropsNeutralNumbers) {
  Builder builder("neutral");
  const ValueId x = builder.input("x", f32({2, 3}));
  ValueId y = *builder.add("mul", {x, x});
  y = *builder.add("add", {number(builder, 0), y});
  y = *builder.add("mul", {number(builder, 1), y});
  y = *builder.add("sub", {y, number(builder, 0)});
  EXPECT_EQ(simplified(builder, y),
            "%1 = mul(%0, %0)\n"
            "return %1\n");
}

TEST(SimplifyArithmetic, KeepsNeutralNumbersThatBroadcast) {
  Builder builder("wide");
  const ValueId x = builder.input("x", f32({1, 3}));
  const ValueId ones = builder.constant(ops::filled_constant(f32({2, 3}), 1));
  EXPECT_EQ(simplified(builder, *builder.add("mul", {x, ones})),
            "%1 = mul(%0, 1)\n"
            "return %1\n");
}

TEST(SimplifyArithmetic, JoinsConstants) {
  Builder builder("chain");
  const ValueId x = builder.input("x", f32({2, 3}));
  ValueId y = *builder.add("mul", {number(builder, 2), x});
  y = *builder.add("mul", {y, number(builder, 4)});
  y = *builder.add("sub", {y, number(builder, 3)});
  y = *builder.add("add", {number(builder, 1), y});
  EXPECT_EQ(simplified(builder, y),
            "%1 = mul(%0, 8)\n"
            "%2 = add(%1, -2)\n"
            "return %2\n");
}

}  // namespace
}  // namespace attune::graph

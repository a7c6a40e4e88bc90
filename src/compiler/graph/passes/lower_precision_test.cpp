#include <gtest/gtest.h>

#include "compiler/graph/passes/interpret_testing.h"
#include "compiler/graph/passes/pass_list.h"
#include "compiler/graph/tasks/product_operands.h"

namespace attune::graph {
namespace {

using ops::Precision;

const TensorType kRows{ir::kF32, {4, 8}, {}};
const Attributes kLastAxis{{"axis", std::int64_t{1}}};

ValueId weights(Builder& b, std::int64_t rows, std::int64_t columns) {
  return b.constant(random_constant({ir::kF32, {rows, columns}, {}}, 1));
}

// What the pass makes of a graph, which computes the same but for roundings.
std::string lowered(Builder builder, std::vector<ValueId> outputs,
                    Precision precision = Precision::F16) {
  const Graph graph = std::move(builder).finish(outputs);
  const auto after = lower_precision(graph, {.precision = precision});
  EXPECT_TRUE(after.ok());
  EXPECT_TRUE(verify(*after).ok());
  EXPECT_EQ(difference(graph, *after, ops::tolerance_of(precision, 3)), "");
  return sketch(*after);
}

TEST(LowerPrecision, CastsOnceAtTheBordersAndConvertsWeightsAhead) {
  Builder b("dense");
  const ValueId x = b.input("x", kRows);
  const ValueId sum = *b.add("add", {*b.add("matmul", {x, weights(b, 8, 6)}), weights(b, 1, 6)});
  const ValueId y = *b.add("matmul", {*b.add("relu", {sum}), weights(b, 6, 2)});
  EXPECT_EQ(lowered(std::move(b), {y}),
            "%1 = cast(%0) {to=f16}\n"
            "%2 = matmul(%1, f16[8,6])\n"
            "%3 = add(%2, f16[1,6])\n"
            "%4 = relu(%3)\n"
            "%5 = matmul(%4, f16[6,2])\n"
            "%6 = cast(%5) {to=f32}\n"
            "return %6\n");
}

TEST(LowerPrecision, ToBf16) {
  Builder b("dense");
  const ValueId y = *b.add("matmul", {b.input("x", kRows), weights(b, 8, 6)});
  EXPECT_EQ(lowered(std::move(b), {y}, Precision::BF16),
            "%1 = cast(%0) {to=bf16}\n"
            "%2 = matmul(%1, bf16[8,6])\n"
            "%3 = cast(%2) {to=f32}\n"
            "return %3\n");
}

TEST(LowerPrecision, WhatNeedsRangeStaysWide) {
  Builder b("attention");
  const ValueId x = b.input("x", kRows);
  const ValueId scores = *b.add("matmul", {x, weights(b, 8, 5)});
  const ValueId shares = *b.add("softmax", {scores}, kLastAxis);
  const ValueId y = *b.add("matmul", {shares, weights(b, 5, 3)});
  EXPECT_EQ(lowered(std::move(b), {y}),
            "%1 = cast(%0) {to=f16}\n"
            "%2 = matmul(%1, f16[8,5])\n"
            "%3 = cast(%2) {to=f32}\n"
            "%4 = softmax(%3) {axis=1}\n"
            "%5 = cast(%4) {to=f16}\n"
            "%6 = matmul(%5, f16[5,3])\n"
            "%7 = cast(%6) {to=f32}\n"
            "return %7\n");
}

TEST(LowerPrecision, ArithmeticThatLeadsToNoProductStaysWide) {
  Builder b("tail");
  const ValueId x = b.input("x", kRows);
  const ValueId scaled = *b.add("mul", {x, x});  // from no product
  const ValueId y = *b.add("matmul", {scaled, weights(b, 8, 6)});
  const ValueId out = *b.add("mul", {y, y});  // to no product
  EXPECT_EQ(lowered(std::move(b), {out}),
            "%1 = mul(%0, %0)\n"
            "%2 = cast(%1) {to=f16}\n"
            "%3 = matmul(%2, f16[8,6])\n"
            "%4 = cast(%3) {to=f32}\n"
            "%5 = mul(%4, %4)\n"
            "return %5\n");
}

TEST(LowerPrecision, WideReadersWidenWhatIsStored) {
  Builder b("shared");
  const ValueId x = b.input("x", kRows);
  const ValueId shared = *b.add("relu", {*b.add("matmul", {x, weights(b, 8, 6)})});
  const ValueId product = *b.add("matmul", {shared, weights(b, 6, 6)});
  const ValueId power = *b.add("exp", {shared});
  const ValueId sine = *b.add("sin", {shared});
  EXPECT_EQ(lowered(std::move(b), {product, power, sine}),
            "%1 = cast(%0) {to=f16}\n"
            "%2 = matmul(%1, f16[8,6])\n"
            "%3 = relu(%2)\n"
            "%4 = cast(%3) {to=f32}\n"
            "%5 = exp(%4)\n"
            "%6 = cast(%3) {to=f32}\n"
            "%7 = sin(%6)\n"
            "%8 = matmul(%3, f16[6,6])\n"
            "%9 = cast(%8) {to=f32}\n"
            "return %9, %5, %7\n");
}

TEST(LowerPrecision, MovementIsAsNarrowAsWhatItLeadsTo) {
  Builder b("moved");
  const ValueId x = b.input("x", kRows);
  const ValueId turned = *b.add("transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  const ValueId y = *b.add("matmul", {turned, weights(b, 4, 3)});
  EXPECT_EQ(lowered(std::move(b), {y}),
            "%1 = cast(%0) {to=f16}\n"
            "%2 = transpose(%1) {perm=[1,0]}\n"
            "%3 = matmul(%2, f16[4,3])\n"
            "%4 = cast(%3) {to=f32}\n"
            "return %4\n");
}

TEST(LowerPrecision, ConstantsBeyondTheTypeKeepTheirOperatorsWide) {
  for (const double number : {1e6, 1e-6}) {
    Builder b("large");
    const ValueId x = b.input("x", kRows);
    const ValueId w = b.constant(ops::filled_constant({ir::kF32, {8, 2}, {}}, number));
    const ValueId y = *b.add("matmul", {x, w});
    EXPECT_EQ(lowered(std::move(b), {y}).find("f16"), std::string::npos) << number;
  }
}

TEST(LowerPrecision, IntegersAreUntouched) {
  Builder b("rows");
  const ValueId rows = b.input("rows", {ir::kI64, {3}, {}});
  const ValueId taken = *b.add("gather", {weights(b, 16, 8), rows}, {{"axis", std::int64_t{0}}});
  const ValueId y = *b.add("matmul", {taken, weights(b, 8, 2)});
  EXPECT_EQ(lowered(std::move(b), {y}),
            "%1 = gather(f16[16,8], %0) {axis=0}\n"
            "%2 = matmul(%1, f16[8,2])\n"
            "%3 = cast(%2) {to=f32}\n"
            "return %3\n");
}

TEST(LowerPrecision, CastsOfTheModelCancel) {
  Builder b("halves");
  const ValueId x = b.input("x", {ir::kF16, {4, 8}, {}});
  const ValueId wide = *b.add("cast", {x}, {{"to", std::string("f32")}});
  const ValueId y = *b.add("matmul", {wide, weights(b, 8, 2)});
  const ValueId out = *b.add("cast", {y}, {{"to", std::string("f16")}});
  EXPECT_EQ(lowered(std::move(b), {out}),
            "%1 = matmul(%0, f16[8,2])\n"
            "return %1\n");
}

TEST(LowerPrecision, Tf32MarksProductsAndChangesNothingElse) {
  Builder b("dense");
  const ValueId y = *b.add("matmul", {b.input("x", kRows), weights(b, 8, 6)});
  EXPECT_EQ(lowered(std::move(b), {y}, Precision::TF32),
            "%1 = matmul(%0, f32[8,6]) {operands=tf32}\n"
            "return %1\n");
}

TEST(LowerPrecision, F32IsTheModelAsItIs) {
  Builder b("dense");
  const ValueId y = *b.add("matmul", {b.input("x", kRows), weights(b, 8, 6)});
  EXPECT_EQ(lowered(std::move(b), {y}, Precision::F32),
            "%1 = matmul(%0, f32[8,6])\n"
            "return %1\n");
}

}  // namespace
}  // namespace attune::graph

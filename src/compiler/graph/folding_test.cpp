#include "compiler/graph/folding.h"

#include <gtest/gtest.h>

namespace attune::graph {
namespace {

ops::OpCall sum_of(std::int64_t elements) {
  const TensorType type{ir::kF32, {elements}, {}};
  ops::OpCall call;
  call.name = "add";
  for (const double value : {2.0, 3.0}) {
    call.inputs.push_back(type);
    call.present.push_back(true);
    call.constants.push_back(ops::filled_constant(type, value));
  }
  return call;
}

std::vector<TensorType> types_of(const ops::OpCall& call) {
  return ops::find_operator(call.name)->infer(call).value();
}

std::optional<std::vector<ConstantPtr>> folded(const ops::OpCall& call, const Folding& folding) {
  return fold(call, types_of(call), folding).value();
}

TEST(Folding, WhatIsQuicklyComputedIsInterpreted) {
  const auto result = folded(sum_of(4), {});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->front()->real(3), 5);
}

TEST(Folding, WhatIsNotKnownStays) {
  ops::OpCall call = sum_of(4);
  call.constants[1] = nullptr;
  EXPECT_FALSE(folded(call, {}).has_value());
}

TEST(Folding, TheRestIsForKernels) {
  Folding folding{.largest_result = 3};
  EXPECT_FALSE(folded(sum_of(4), folding).has_value());
  int runs = 0;
  folding.run_kernel = [&](const ops::OpCall& call) {
    ++runs;
    return evaluate(call, {});
  };
  EXPECT_TRUE(folded(sum_of(4), folding).has_value());
  EXPECT_TRUE(folded(sum_of(2), folding).has_value());
  EXPECT_EQ(runs, 1);
  folding.most_steps = 1;
  EXPECT_TRUE(folded(sum_of(2), folding).has_value());
  EXPECT_EQ(runs, 2);
}

TEST(Folding, EmptyResultsAreKnown) {
  ops::OpCall call = sum_of(0);
  call.constants = {nullptr, nullptr};
  const auto result = folded(call, {});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->front()->type.elements(), 0);
}

TEST(Folding, TransposesAreCheapAtAnySize) {
  const TensorType type{ir::kF32, {2, 3}, {}};
  ops::OpCall call;
  call.name = "transpose";
  call.attributes = {{"perm", std::vector<std::int64_t>{1, 0}}};
  call.inputs = {type};
  call.present = {true};
  call.constants = {ops::filled_constant(type, 1)};
  const auto result = folded(call, {.largest_result = 0});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->front()->type.shape, (std::vector<std::int64_t>{3, 2}));
}

}  // namespace
}  // namespace attune::graph

// What reductions, rows and normalisations of src/compiler/ops mean, by values computed by hand.
#include <cmath>

#include "compiler/graph/evaluate_testing.h"

#include <gtest/gtest.h>

namespace attune::graph {
namespace {

Attributes over(Extents axes, std::int64_t keepdims) {
  return {{"axes", std::move(axes)}, {"keepdims", keepdims}};
}

void expect_near(const Evaluated& actual, const Evaluated& expected, double tolerance = 1e-5) {
  EXPECT_EQ(actual.shape, expected.shape);
  ASSERT_EQ(actual.values.size(), expected.values.size());
  for (std::size_t i = 0; i < actual.values.size(); ++i) {
    EXPECT_NEAR(actual.values[i], expected.values[i], tolerance) << "element " << i;
  }
}

TEST(Reduction, KeepsOrDropsDimensions) {
  EXPECT_EQ(run("reduce_sum", {iota({2, 3})}, over({1}, 0)), (Evaluated{{2}, {3, 12}}));
  EXPECT_EQ(run("reduce_sum", {iota({2, 3})}, over({0}, 1)), (Evaluated{{1, 3}, {3, 5, 7}}));
  EXPECT_EQ(run("reduce_sum", {iota({2, 3})}, over({0, 1}, 0)), (Evaluated{{}, {15}}));
  EXPECT_EQ(run("reduce_sum_square", {iota({3})}, over({}, 1)), (Evaluated{{3}, {0, 1, 4}}));
}

TEST(Reduction, HasOneMeaningPerName) {
  const ConstantPtr x = tensor(ir::kF32, {4}, {1, -2, 3, 4});
  const auto all = over({0}, 0);
  EXPECT_EQ(run("reduce_mean", {x}, all), (Evaluated{{}, {1.5}}));
  EXPECT_EQ(run("reduce_prod", {x}, all), (Evaluated{{}, {-24}}));
  EXPECT_EQ(run("reduce_max", {x}, all), (Evaluated{{}, {4}}));
  EXPECT_EQ(run("reduce_min", {x}, all), (Evaluated{{}, {-2}}));
  EXPECT_EQ(run("reduce_l1", {x}, all), (Evaluated{{}, {10}}));
  expect_near(run("reduce_l2", {x}, all), {{}, {std::sqrt(30.0)}});
  expect_near(run("reduce_log_sum", {x}, all), {{}, {std::log(6.0)}});
  const ConstantPtr large = tensor(ir::kF32, {2}, {1000, 1000});
  expect_near(run("reduce_log_sum_exp", {large}, all), {{}, {1000 + std::log(2.0)}}, 1e-3);
}

TEST(Reduction, SumsSmallTypesInWideOnes) {
  EXPECT_EQ(run("reduce_mean", {tensor(ir::kI8, {3}, {100, 100, 101})}, over({0}, 0)),
            (Evaluated{{}, {100}}));
  EXPECT_EQ(run("reduce_max", {tensor(ir::kBool, {2, 2}, {0, 1, 0, 0})}, over({1}, 0)),
            (Evaluated{{2}, {1, 0}}));
  EXPECT_EQ(run("reduce_sum", {tensor(ir::kF16, {3}, {2048, 1, 1})}, over({0}, 0)),
            (Evaluated{{}, {2050}}));
}

TEST(Reduction, FindsFirstOrLastPlaces) {
  const ConstantPtr x = tensor(ir::kF32, {2, 3}, {2, 2, 1, 3, 10, 10});
  const auto along = [](std::int64_t axis, std::int64_t last) {
    return Attributes{{"axis", axis}, {"keepdims", 0L}, {"select_last_index", last}};
  };
  EXPECT_EQ(run("arg_max", {x}, along(1, 0)), (Evaluated{{2}, {0, 1}}));
  EXPECT_EQ(run("arg_max", {x}, along(1, 1)), (Evaluated{{2}, {1, 2}}));
  EXPECT_EQ(run("arg_min", {x}, along(0, 0)), (Evaluated{{3}, {0, 0, 0}}));
}

TEST(Rows, Softmax) {
  const ConstantPtr x = tensor(ir::kF32, {2, 2}, {0, std::log(3.0), 1000, 1000});
  expect_near(run("softmax", {x}, {{"axis", 1L}}), {{2, 2}, {0.25, 0.75, 0.5, 0.5}});
  expect_near(run("log_softmax", {x}, {{"axis", 1L}}),
              {{2, 2}, {std::log(0.25), std::log(0.75), std::log(0.5), std::log(0.5)}}, 1e-4);
  EXPECT_EQ(run("hardmax", {x}, {{"axis", 1L}}), (Evaluated{{2, 2}, {0, 1, 1, 0}}));
  EXPECT_EQ(run("hardmax", {x}, {{"axis", 0L}}), (Evaluated{{2, 2}, {0, 0, 1, 1}}));
}

TEST(Rows, RunningSums) {
  const auto along = [](std::int64_t exclusive, std::int64_t reverse) {
    return Attributes{{"axis", 0L}, {"exclusive", exclusive}, {"reverse", reverse}};
  };
  const ConstantPtr x = tensor(ir::kI32, {5}, {1, 2, 3, 4, 5});
  EXPECT_EQ(run("cumsum", {x}, along(0, 0)).values, (Numbers{1, 3, 6, 10, 15}));
  EXPECT_EQ(run("cumsum", {x}, along(1, 0)).values, (Numbers{0, 1, 3, 6, 10}));
  EXPECT_EQ(run("cumsum", {x}, along(0, 1)).values, (Numbers{15, 14, 12, 9, 5}));
  EXPECT_EQ(run("cumsum", {x}, along(1, 1)).values, (Numbers{14, 12, 9, 5, 0}));
  EXPECT_EQ(run("cumprod", {x}, along(1, 0)).values, (Numbers{1, 1, 2, 6, 24}));
}

TEST(Normalisation, OfChannelsLayersAndGroups) {
  const ConstantPtr x = tensor(ir::kF32, {1, 2, 2}, {1, 3, 10, 30});
  const ConstantPtr one = tensor(ir::kF32, {2}, {1, 2}), zero = tensor(ir::kF32, {2}, {0, 1});
  const ConstantPtr mean = tensor(ir::kF32, {2}, {2, 20}),
                    variance = tensor(ir::kF32, {2}, {4, 25});
  expect_near(run("batch_norm", {x, one, zero, mean, variance}, {{"epsilon", 0.0}}),
              {{1, 2, 2}, {-0.5, 0.5, -3, 5}});
  expect_near(run("layer_norm", {x, one, zero}, {{"axis", 2L}, {"epsilon", 0.0}}),
              {{1, 2, 2}, {-1, 3, -1, 3}});
  expect_near(run("group_norm", {x, one, zero}, {{"groups", 2L}, {"epsilon", 0.0}}),
              {{1, 2, 2}, {-1, 1, -1, 3}});
  const double root = std::sqrt(5.0);
  expect_near(run("rms_norm", {x, nullptr}, {{"axis", 2L}, {"epsilon", 0.0}}),
              {{1, 2, 2}, {1 / root, 3 / root, 1 / root, 3 / root}});
  expect_near(run("lrn", {tensor(ir::kF32, {1, 3}, {1, 2, 3})},
                  {{"size", 3L}, {"alpha", 3.0}, {"beta", 1.0}, {"bias", 1.0}}),
              {{1, 3}, {1.0 / 6, 2.0 / 15, 3.0 / 14}});
  // A window wider than the channels sees them all.
  expect_near(run("lrn", {tensor(ir::kF32, {1, 2}, {1, 2})},
                  {{"size", 7L}, {"alpha", 7.0}, {"beta", 1.0}, {"bias", 1.0}}),
              {{1, 2}, {1.0 / 6, 2.0 / 6}});
  EXPECT_EQ(error_of("batch_norm", {x, one, zero, mean, iota({3})}, {{"epsilon", 0.0}}),
            "batch_norm of f32[1,2,2]: parameter 4 is f32[3], must have 2 elements");
}

TEST(Product, MultipliesMatrices) {
  EXPECT_EQ(run("matmul", {iota({2, 2}), iota({2, 3})}, {}),
            (Evaluated{{2, 3}, {3, 4, 5, 9, 14, 19}}));
  EXPECT_EQ(run("matmul", {iota({2, 1, 2}), iota({2, 1})}, {}), (Evaluated{{2, 1, 1}, {1, 3}}));
  EXPECT_EQ(run("matmul",
                {tensor(ir::kU8, {1, 2}, {200, 200}), tensor(ir::kI8, {2, 1}, {-100, 100})}, {}),
            (Evaluated{{1, 1}, {0}}));
  EXPECT_EQ(error_of("matmul", {iota({2, 3}), iota({2, 3})}, {}),
            "matmul of f32[2,3], f32[2,3]: 3 columns and 2 rows");
}

TEST(Product, SumsByLabels) {
  const auto einsum = [](const char* equation, const std::vector<ConstantPtr>& inputs) {
    return run("einsum", inputs, {{"equation", std::string(equation)}});
  };
  EXPECT_EQ(einsum("ab->ba", {iota({2, 2})}), (Evaluated{{2, 2}, {0, 2, 1, 3}}));
  EXPECT_EQ(einsum("aa->a", {iota({2, 2})}), (Evaluated{{2}, {0, 3}}));
  EXPECT_EQ(einsum("ab,b,b->a", {iota({2, 2}), iota({2}), iota({2})}), (Evaluated{{2}, {1, 3}}));
  EXPECT_EQ(einsum("ab->", {iota({2, 2})}), (Evaluated{{}, {6}}));
}

TEST(Product, DeterminantsSwapRows) {
  EXPECT_EQ(run("det", {tensor(ir::kF32, {2, 2}, {0, 1, 1, 0})}, {}), (Evaluated{{}, {-1}}));
  expect_near(run("det", {tensor(ir::kF32, {3, 3}, {0, 2, 1, 4, 0, 3, 5, 6, 0})}, {}), {{}, {54}},
              1e-4);
  expect_near(run("det", {tensor(ir::kF32, {2, 2, 2}, {1, 2, 3, 4, 1, 2, 2, 4})}, {}),
              {{2}, {-2, 0}});
}

TEST(Product, RotatesPairs) {
  // A quarter turn takes (x, y) to (-y, x).
  const ConstantPtr x = iota({1, 1, 1, 4});
  const ConstantPtr cosine = tensor(ir::kF32, {1, 1, 2}, {0, 0}),
                    sine = tensor(ir::kF32, {1, 1, 2}, {1, 1});
  const auto turn = [&](std::int64_t interleaved) {
    return run("rotary_embedding", {x, cosine, sine}, {{"pairs", 2L}, {"interleaved", interleaved}})
        .values;
  };
  EXPECT_EQ(turn(0), (Numbers{-2, -3, 0, 1}));
  EXPECT_EQ(turn(1), (Numbers{-1, 0, -3, 2}));
}

}  // namespace
}  // namespace attune::graph

// What the elementwise operators of src/compiler/ops mean, by values computed by hand.
#include <cmath>
#include <limits>

#include "compiler/graph/evaluate_testing.h"

#include <gtest/gtest.h>

namespace attune::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

ConstantPtr reals(const Numbers& values) {
  return tensor(ir::kF32, {static_cast<std::int64_t>(values.size())}, values);
}

ConstantPtr numbers(ir::DType type, const Numbers& values) {
  return tensor(type, {static_cast<std::int64_t>(values.size())}, values);
}

Numbers values(std::string_view op, const std::vector<ConstantPtr>& inputs,
               Attributes attributes = {}) {
  return run(op, inputs, std::move(attributes)).values;
}

void expect_near(const Numbers& actual, const Numbers& expected, double tolerance = 1e-6) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
  }
}

TEST(Arithmetic, BroadcastsAndKeepsTypes) {
  EXPECT_EQ(run("add", {iota({2, 1}), iota({3})}, {}), (Evaluated{{2, 3}, {0, 1, 2, 1, 2, 3}}));
  EXPECT_EQ(values("mul", {numbers(ir::kI8, {100}), numbers(ir::kI8, {2})}), (Numbers{-56}));
  EXPECT_EQ(values("sub", {numbers(ir::kU16, {1}), numbers(ir::kU16, {2})}), (Numbers{65535}));
  EXPECT_EQ(error_of("add", {iota({2}), iota({2}, ir::kI32)}, {}),
            "add of f32[2] and i32[2], whose types differ");
  EXPECT_EQ(error_of("exp", {iota({2}, ir::kI32)}, {}), "exp of i32[2], needs floats");
}

TEST(Arithmetic, DividesIntegersTowardsZero) {
  EXPECT_EQ(
      values("div", {numbers(ir::kI32, {7, -7, 7, -7, 6}), numbers(ir::kI32, {2, 2, -2, -2, -3})}),
      (Numbers{3, -3, -3, 3, -2}));
  EXPECT_EQ(values("div", {numbers(ir::kU8, {200}), numbers(ir::kU8, {3})}), (Numbers{66}));
  // Twice the greatest i64 is odd as u64.
  const ConstantPtr greatest = numbers(ir::kU64, {18446744073709551615.0});
  EXPECT_EQ(values("div", {greatest, numbers(ir::kU64, {2})}), (Numbers{9223372036854775807.0}));
  EXPECT_EQ(values("greater", {greatest, numbers(ir::kU64, {1})}), (Numbers{1}));
}

TEST(Arithmetic, TakesTheSignOfModFromEitherSide) {
  const ConstantPtr a = numbers(ir::kI32, {-4, 7, 5, 4, -7, 8});
  const ConstantPtr b = numbers(ir::kI32, {2, -3, 8, -2, 3, 5});
  EXPECT_EQ(values("mod", {a, b}, {{"fmod", 0L}}), (Numbers{0, -2, 5, 0, 2, 3}));
  EXPECT_EQ(values("mod", {a, b}, {{"fmod", 1L}}), (Numbers{0, 1, 5, 0, -1, 3}));
  expect_near(values("mod", {reals({-4.3F, 7.2F}), reals({2.1F, -3.4F})}, {{"fmod", 1L}}),
              {-0.1, 0.4}, 1e-5);
}

TEST(Arithmetic, RaisesToPowersOfOtherTypes) {
  EXPECT_EQ(values("pow", {numbers(ir::kI64, {3, 2, 10}), reals({6, -1, 0.5F})}),
            (Numbers{729, 0, 3}));
  expect_near(values("pow", {reals({2, 4}), numbers(ir::kI32, {3, -1})}), {8, 0.25});
}

TEST(Arithmetic, KeepsNan) {
  const Numbers greatest =
      values("max", {reals({static_cast<float>(kNan), 1}), reals({1, static_cast<float>(kNan)})});
  EXPECT_TRUE(std::isnan(greatest[0]) && std::isnan(greatest[1]));
  EXPECT_TRUE(std::isnan(values("relu", {reals({static_cast<float>(kNan)})})[0]));
  EXPECT_TRUE(
      std::isnan(values("clip", {reals({static_cast<float>(kNan)}), reals({0}), reals({1})})[0]));
}

TEST(Arithmetic, ShiftsBitsOut) {
  const Attributes left{{"direction", std::string("LEFT")}};
  const Attributes right{{"direction", std::string("RIGHT")}};
  EXPECT_EQ(values("bit_shift", {numbers(ir::kU8, {16, 4, 1}), numbers(ir::kU8, {1, 2, 9})}, left),
            (Numbers{32, 16, 0}));
  EXPECT_EQ(values("bit_shift", {numbers(ir::kU8, {16, 4, 1}), numbers(ir::kU8, {1, 2, 9})}, right),
            (Numbers{8, 1, 0}));
  EXPECT_EQ(values("bit_not", {numbers(ir::kU8, {1})}), (Numbers{254}));
  EXPECT_EQ(values("bit_xor", {numbers(ir::kI16, {6}), numbers(ir::kI16, {3})}), (Numbers{5}));
}

TEST(Comparison, TellsInfinitiesApart) {
  const ConstantPtr x = reals({-1, static_cast<float>(kInfinity), -static_cast<float>(kInfinity)});
  const auto detect = [&](std::int64_t negative, std::int64_t positive) {
    return values("is_inf", {x}, {{"detect_negative", negative}, {"detect_positive", positive}});
  };
  EXPECT_EQ(detect(1, 1), (Numbers{0, 1, 1}));
  EXPECT_EQ(detect(0, 1), (Numbers{0, 1, 0}));
  EXPECT_EQ(detect(1, 0), (Numbers{0, 0, 1}));
  EXPECT_EQ(detect(0, 0), (Numbers{0, 0, 0}));
}

TEST(Comparison, ChoosesAndClips) {
  EXPECT_EQ(values("where", {numbers(ir::kBool, {1, 0}), reals({5}), reals({1, 2})}),
            (Numbers{5, 2}));
  EXPECT_EQ(values("clip", {reals({-2, 0.5F, 9}), reals({-1}), nullptr}), (Numbers{-1, 0.5, 9}));
  EXPECT_EQ(values("clip", {reals({-2, 9}), reals({3}), reals({1})}), (Numbers{1, 1}));
  EXPECT_EQ(values("xor", {numbers(ir::kBool, {1, 0}), numbers(ir::kBool, {1, 1})}),
            (Numbers{0, 1}));
}

TEST(Activation, HasTheValuesOfTheStandard) {
  const ConstantPtr x = reals({-1, 0, 2});
  const auto alpha = [](double value) { return Attributes{{"alpha", value}}; };
  const double e = std::exp(-1.0);
  expect_near(values("leaky_relu", {x}, alpha(0.1)), {-0.1, 0, 2});
  expect_near(values("elu", {x}, alpha(2)), {2 * (e - 1), 0, 2});
  expect_near(values("celu", {x}, alpha(2)), {2 * (std::exp(-0.5) - 1), 0, 2});
  expect_near(values("thresholded_relu", {x}, alpha(1)), {0, 0, 2});
  expect_near(values("softplus", {x}), {std::log1p(e), std::log(2.0), std::log1p(std::exp(2.0))});
  expect_near(values("softplus", {reals({200, -200})}), {200, 0});
  expect_near(values("softsign", {x}), {-0.5, 0, 2.0 / 3});
  expect_near(values("hard_swish", {x}), {-1.0 / 3, 0, 5.0 / 3});
  expect_near(values("silu", {x}), {-1 / (1 + std::exp(1.0)), 0, 2 / (1 + std::exp(-2.0))});
  expect_near(values("gelu", {x}, {{"approximate", std::string("none")}}),
              {-0.15865525, 0, 1.95449974});
  expect_near(values("gelu", {x}, {{"approximate", std::string("tanh")}}),
              {-0.15880801, 0, 1.95459769});
  expect_near(values("shrink", {x}, {{"lambd", 1.5}, {"bias", 0.5}}), {0, 0, 1.5});
  EXPECT_EQ(values("shrink", {numbers(ir::kI32, {-3, 1, 3})}, {{"lambd", 1.5}, {"bias", 1.5}}),
            (Numbers{-1, 0, 1}));
  expect_near(values("prelu", {x, reals({0.5F, 0.5F, 3})}), {-0.5, 0, 2});
}

TEST(Activation, ComputesSmallFloatsInF32) {
  // 1 + 2^-11 is lost in f16 between the steps, but not when the steps are taken in f32.
  const ConstantPtr x = tensor(ir::kF16, {1}, {0.25});
  expect_near(values("softsign", {x}), {0.2}, 1e-4);
  EXPECT_EQ(values("add", {numbers(ir::kBF16, {256}), numbers(ir::kBF16, {1})}), (Numbers{256}));
}

TEST(Conversion, Casts) {
  const auto cast = [](const ConstantPtr& x, const char* to) {
    return values("cast", {x}, {{"to", std::string(to)}});
  };
  EXPECT_EQ(cast(reals({-1.9F, 2.9F, 0.5F}), "i32"), (Numbers{-1, 2, 0}));
  EXPECT_EQ(cast(reals({0, 0.25F, -3}), "bool"), (Numbers{0, 1, 1}));
  EXPECT_EQ(cast(numbers(ir::kI32, {256, 0}), "bool"), (Numbers{1, 0}));
  EXPECT_EQ(cast(numbers(ir::kI32, {300, -1}), "u8"), (Numbers{44, 255}));
  EXPECT_EQ(cast(reals({1.00390625F}), "bf16"), (Numbers{1}));  // half to even
  EXPECT_EQ(values("bit_cast", {reals({1})}, {{"to", std::string("i32")}}), (Numbers{0x3f800000}));
}

TEST(Conversion, QuantizesWithSaturation) {
  const Attributes u8{{"to", std::string("u8")}}, f32{{"to", std::string("f32")}};
  const ConstantPtr scale = tensor(ir::kF32, {}, {2}), zero = tensor(ir::kU8, {}, {128});
  // Halves go to even: 3 / 2 = 1.5 -> 2, 5 / 2 = 2.5 -> 2.
  EXPECT_EQ(values("quantize_linear", {reals({0, 3, 5, 1000, -1000}), scale, zero}, u8),
            (Numbers{128, 130, 130, 255, 0}));
  EXPECT_EQ(values("dequantize_linear", {numbers(ir::kU8, {0, 128, 255}), scale, zero}, f32),
            (Numbers{-256, 0, 254}));
  EXPECT_EQ(error_of("quantize_linear", {reals({0}), scale, tensor(ir::kI8, {}, {0})}, u8),
            "the zero point is i8[], must be u8");
}

}  // namespace
}  // namespace attune::graph

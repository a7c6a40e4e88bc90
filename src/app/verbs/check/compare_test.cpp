#include "app/verbs/check/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attune::verbs {
namespace {

using runtime::DType;
using runtime::Tensor;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor floats(const std::vector<float>& values) {
  Tensor tensor = Tensor::allocate(DType::F32, {static_cast<std::int64_t>(values.size())}).value();
  std::copy(values.begin(), values.end(), tensor.as<float>().begin());
  return tensor;
}

CheckCase compared(const std::vector<float>& expected, const std::vector<float>& actual,
                   const Tolerance& tolerance = {}) {
  CheckCase result{.name = "x", .status = CheckStatus::Pass};
  (void)compare({"y", floats(expected)}, floats(actual), tolerance, result);
  return result;
}

TEST(Compare, CountsTheErrorRelativeToTheElement) {
  EXPECT_EQ(compared({1000, 1}, {1000.9F, 1}).status, CheckStatus::Pass);
  const CheckCase wrong = compared({1000, 1}, {1000, 1.1F});
  EXPECT_EQ(wrong.status, CheckStatus::Wrong);
  EXPECT_EQ(wrong.message,
            "1 of 2 elements of output 'y' differ; element 1 is 1.10000002, expected 1");
  EXPECT_NEAR(wrong.max_abs_error, 0.1, 1e-6);
  EXPECT_NEAR(wrong.max_rel_error, 1e-4, 1e-7);
}

TEST(Compare, OrToTheLargest) {
  EXPECT_EQ(compared({1000, 1}, {1000, 1.1F}, {1e-3, 0, true}).status, CheckStatus::Pass);
  EXPECT_EQ(compared({1000, 1}, {1000, 3.1F}, {1e-3, 0, true}).status, CheckStatus::Wrong);
}

// Half a unit in the last place of 1e6 is 0.06.
TEST(Compare, CountsWhatIsRightByRoundingOnly) {
  CheckCase result{.name = "x", .status = CheckStatus::Pass};
  EXPECT_EQ(compare({"y", floats({1e6F, 0, 1})}, floats({1e6F, 0.05F, 1}), {}, result), 1);
  EXPECT_EQ(result.status, CheckStatus::Pass);
  EXPECT_EQ(compare({"y", floats({1e6F, 0, 1})}, floats({1e6F, 0.07F, 1}), {}, result), 0);
  EXPECT_EQ(result.status, CheckStatus::Wrong);
}

TEST(Compare, NotANumberAndInfinityMustBeTheSame) {
  EXPECT_EQ(compared({kNan, kInf, -kInf}, {kNan, kInf, -kInf}).status, CheckStatus::Pass);
  EXPECT_EQ(compared({kNan}, {1}).status, CheckStatus::Wrong);
  EXPECT_EQ(compared({1}, {kNan}).status, CheckStatus::Wrong);
  EXPECT_EQ(compared({kInf}, {-kInf}).status, CheckStatus::Wrong);
  EXPECT_EQ(compared({kInf}, {1e30F}).status, CheckStatus::Wrong);
  EXPECT_EQ(compared({1}, {kInf}).status, CheckStatus::Wrong);
}

TEST(Compare, TypesAndShapesMustBeTheSame) {
  CheckCase result{.name = "x", .status = CheckStatus::Pass};
  (void)compare({"y", floats({1, 2})}, Tensor::allocate(DType::I32, {2}).value(), {}, result);
  EXPECT_EQ(result.message, "output 'y' is i32, expected f32");
  EXPECT_EQ(compared({1, 2}, {1, 2, 3}).message, "output 'y' has shape 3, expected 2");
  EXPECT_EQ(compared({}, {}).status, CheckStatus::Pass);
}

}  // namespace
}  // namespace attune::verbs

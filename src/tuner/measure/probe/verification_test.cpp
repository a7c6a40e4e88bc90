#include "tuner/measure/probe/verification.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attune::probe {
namespace {

class VerificationTest : public ::testing::Test {
 protected:
  Comparison run(const Verification& verification) {
    const std::byte* data[] = {reinterpret_cast<const std::byte*>(values_.data())};
    std::vector<double> found(verification.samples.size());
    read_samples(verification.samples, buffers_, data, found);
    return compare(verification, verification.samples, found);
  }
  std::vector<float> values_ = {1.0f, 2.0f, std::nanf(""), INFINITY};
  std::vector<Buffer> buffers_ = {{.elements = 4, .role = Role::Output}};
};

TEST_F(VerificationTest, AcceptsWithinTolerance) {
  const Comparison result = run({{{0, 0, 1.05}, {0, 1, 2.0}}, 0.0, 0.1});
  EXPECT_TRUE(result.right);
  EXPECT_NEAR(result.max_error, 0.05, 1e-9);
}

TEST_F(VerificationTest, NamesTheWorstSample) {
  const Verification verification{{{0, 0, 1.5}, {0, 1, 4.0}}, 0.1, 0.0};
  const Comparison result = run(verification);
  EXPECT_FALSE(result.right);
  EXPECT_DOUBLE_EQ(result.max_error, 2.0);
  EXPECT_EQ(describe_wrong(verification, result),
            "buffer 0 at element 1 is 2, expected 4 (tolerance 0.1)");
}

TEST_F(VerificationTest, NanIsWrongUnlessExpected) {
  EXPECT_TRUE(run({{{0, 2, std::nan("")}}, 0.0, 0.0}).right);
  const Comparison result = run({{{0, 2, 1.0}}, 1e9, 0.0});
  EXPECT_FALSE(result.right);
  EXPECT_TRUE(std::isinf(result.max_error));
  EXPECT_FALSE(run({{{0, 0, std::nan("")}}, 1e9, 0.0}).right);
}

TEST_F(VerificationTest, InfinityIsWrongUnlessExpected) {
  EXPECT_TRUE(run({{{0, 3, INFINITY}}, 0.0, 1e-3}).right);
  EXPECT_FALSE(run({{{0, 3, -INFINITY}}, 0.0, 1e-3}).right);
  EXPECT_FALSE(run({{{0, 0, INFINITY}}, 0.0, 1e-3}).right);
  EXPECT_FALSE(run({{{0, 3, 1.0}}, 0.0, 1e-3}).right);
}

}  // namespace
}  // namespace attune::probe

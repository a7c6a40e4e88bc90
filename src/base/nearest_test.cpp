#include "base/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace attune {
namespace {

const std::vector<std::string> kWords = {"tune", "bench", "compile", "run"};

TEST(Nearest, FindsAMisspeltWord) {
  EXPECT_EQ(nearest("tun", kWords), "tune");
  EXPECT_EQ(nearest("tnue", kWords), "tune");
  EXPECT_EQ(nearest("benchmark", kWords), "bench");
  EXPECT_EQ(nearest("rum", kWords), "run");
}

TEST(Nearest, SaysNothingWhenNoWordIsNear) {
  EXPECT_EQ(nearest("quantize", kWords), "");
  EXPECT_EQ(nearest("x", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
  EXPECT_EQ(nearest("tune", {}), "");
}

}  // namespace
}  // namespace attune

#include "base/json_depth.h"

#include <gtest/gtest.h>

#include <string>

namespace attune {
namespace {

TEST(JsonDepth, CountsWhatLiesWithinEachOther) {
  EXPECT_EQ(json_depth("3"), 0u);
  EXPECT_EQ(json_depth(R"({"a": [1, {"b": []}], "c": {}})"), 4u);
  EXPECT_EQ(json_depth(R"(["[[[", "\"[[", "\\", []])"), 2u);
  EXPECT_EQ(json_depth("]]]]["), 1u);
  EXPECT_EQ(json_depth(std::string(1 << 20, '[')), std::size_t{1} << 20);
}

}  // namespace
}  // namespace attune

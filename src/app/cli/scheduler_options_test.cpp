#include "app/cli/scheduler_options.h"

#include <gtest/gtest.h>

namespace attune::cli {
namespace {

TEST(ParseCores, ReadsNumbersAndRanges) {
  EXPECT_EQ(*parse_cores("--cores", ""), std::vector<int>{});
  EXPECT_EQ(*parse_cores("--cores", "3"), std::vector<int>{3});
  EXPECT_EQ(*parse_cores("--cores", "0,4-6,2"), (std::vector<int>{0, 4, 5, 6, 2}));
}

TEST(ParseCores, RefusesEverythingElse) {
  for (const std::string text : {",", "1,", "a", "1-", "-1", "3-2", "1,1", "0-9999999", "1 2"}) {
    const auto cores = parse_cores("--cores", text);
    ASSERT_FALSE(cores.ok()) << text;
    EXPECT_EQ(cores.error().message, "--cores is '" + text + "', which is no list of cores");
  }
}

}  // namespace
}  // namespace attune::cli

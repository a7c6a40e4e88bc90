#include "app/cli/fleet/scheduler_options.h"

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

TEST(ParseSize, ReadsBytesAndUnits) {
  EXPECT_EQ(*parse_size("--size", "7"), 7u);
  EXPECT_EQ(*parse_size("--size", "64K"), 65536u);
  EXPECT_EQ(*parse_size("--size", "3M"), 3u << 20);
  EXPECT_EQ(*parse_size("--size", "20G"), std::uint64_t{20} << 30);
  EXPECT_EQ(*parse_size("--size", "1024T"), std::uint64_t{1} << 50);
}

TEST(ParseSize, RefusesEverythingElse) {
  for (const std::string text : {"", "0", "-1", "M", "1.5G", "10MB", "1 G", "1025T", "1m", "9e9",
                                 "99999999999999999999", "9999999999999G"}) {
    const auto size = parse_size("--size", text);
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_EQ(size.error().message, "--size is '" + text + "', which is no size");
  }
}

TEST(RetentionArguments, AreThoseOfTheSchedulerUnlessGiven) {
  CommandLine line("scheduler", "");
  const RetentionArguments arguments(line);
  const std::vector<std::string> words = {"--keep-days", "0.5", "--keep-size", "2G"};
  ASSERT_TRUE(line.parse(words).ok());
  const auto retention = arguments.take();
  ASSERT_TRUE(retention.ok());
  EXPECT_EQ(retention->seconds, 43200);
  EXPECT_EQ(retention->bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(retention->jobs, jobs::Retention().jobs);
  EXPECT_EQ(retention->log_bytes, jobs::Retention().log_bytes);
}

}  // namespace
}  // namespace attune::cli

#include "fleet/jobs/simulation/colocation_file.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace attune::jobs {
namespace {

constexpr KindLike kKinds[] = {{"build", kBuilding},
                               {"compile", kBuilding},
                               {"update", kLearning},
                               {"profile", kMeasuring},
                               {"race", kMeasuring}};

CoLocationMatrix matrix_of(double compute_beside_build, double memory_beside_learn) {
  return {.host_cores = {0, 1},
          .device_cores = {2},
          .pairs = {{"profile-compute", "build", compute_beside_build},
                    {"build", "profile-compute", 1.5},
                    {"profile-memory", "learn", memory_beside_learn}}};
}

TEST(CoLocationFile, IsReadAsItWasWritten) {
  CoLocationMatrix matrix = matrix_of(1.01, 1.25);
  EXPECT_EQ(*parse_colocation(to_json(matrix)), matrix);
  matrix.devices = 2;
  EXPECT_EQ(*parse_colocation(to_json(matrix)), matrix);
}

TEST(CoLocationFile, SaysWhenItIsDamaged) {
  for (const std::string text : {"", "{}", "[1]", R"({"host_cores": ["a"]})"}) {
    const auto matrix = parse_colocation(text);
    ASSERT_FALSE(matrix.ok()) << text;
    EXPECT_EQ(matrix.error().message, "the co-location file is damaged");
  }
}

TEST(CoLocationFile, KeepsApartWhatSpoilsMeasurements) {
  EXPECT_TRUE(kinds_apart(matrix_of(1.03, 1.10), kKinds).empty());
  using Pair = std::pair<std::string, std::string>;
  const auto builds = kinds_apart(matrix_of(1.04, 1.0), kKinds);
  EXPECT_NE(std::find(builds.begin(), builds.end(), Pair("build", "profile")), builds.end());
  EXPECT_NE(std::find(builds.begin(), builds.end(), Pair("compile", "race")), builds.end());
  EXPECT_EQ(std::find(builds.begin(), builds.end(), Pair("update", "profile")), builds.end());
  const auto learning = kinds_apart(matrix_of(1.0, 1.11), kKinds);
  EXPECT_NE(std::find(learning.begin(), learning.end(), Pair("update", "profile")), learning.end());
  EXPECT_TRUE(kinds_apart(matrix_of(1.04, 1.2), kKinds, {.compute = 1.05, .memory = 1.3}).empty());
}

TEST(CoLocationFile, KeepsMeasurementsApartThatDisturbEachOther) {
  using Pair = std::pair<std::string, std::string>;
  const auto apart =
      kinds_apart({.devices = 2, .pairs = {{"profile-memory", "profile-memory", 1.2}}}, kKinds);
  EXPECT_NE(std::find(apart.begin(), apart.end(), Pair("profile", "profile")), apart.end());
  // Each once, in one of its orders.
  const auto either = std::count(apart.begin(), apart.end(), Pair("profile", "race")) +
                      std::count(apart.begin(), apart.end(), Pair("race", "profile"));
  EXPECT_EQ(either, 1);
}

}  // namespace
}  // namespace attune::jobs

// Any legal schedule with blocks, threads and shared memory leaves a program's meaning as it was,
// and its launches have no races, no divergent barriers and no access to memory that is not theirs.
// ATTUNE_PROPERTY_LAUNCHES says how many are compared, ATTUNE_PROPERTY_SEED where seeds begin.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/random/random_launch.h"

namespace attune::test {
namespace {

std::int64_t setting(const char* name, std::int64_t fallback) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : fallback;
}

TEST(Launches, RandomBoundTracesKeepTheMeaning) {
  const std::int64_t wanted = setting("ATTUNE_PROPERTY_LAUNCHES", 2000);
  const auto seed = static_cast<std::uint64_t>(setting("ATTUNE_PROPERTY_SEED", 1));
  const LaunchCounts counts = compare_random_launches(seed, wanted);
  for (const std::string& failure : counts.failures) ADD_FAILURE() << failure;
  EXPECT_GE(counts.agreed, wanted);
  fmt::print("{} launches agreed, {} of them with shared memory, {} with barriers, {} pipelined\n",
             counts.agreed, counts.shared, counts.barriers, counts.pipelines);
}

}  // namespace
}  // namespace attune::test

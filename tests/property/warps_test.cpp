// Products by matrix instructions of warps, whatever their tiles, warps, layouts and pipelines,
// compute what the plain program computes of the same operands, and nothing is found in their
// launches. ATTUNE_PROPERTY_WARPS says how many are compared, ATTUNE_PROPERTY_SEED where seeds
// begin.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/random/random_warp.h"

namespace attune::test {
namespace {

std::int64_t setting(const char* name, std::int64_t fallback) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : fallback;
}

TEST(Warps, RandomProductsKeepTheMeaning) {
  const std::int64_t wanted = setting("ATTUNE_PROPERTY_WARPS", 200);
  const auto seed = static_cast<std::uint64_t>(setting("ATTUNE_PROPERTY_SEED", 1));
  const WarpCounts counts = compare_random_warps(seed, wanted);
  for (const std::string& failure : counts.failures) ADD_FAILURE() << failure;
  EXPECT_GE(counts.agreed, wanted);
  fmt::print("{} products agreed, {} of halves, {} of tf32, {} pipelined\n", counts.agreed,
             counts.halves, counts.tf32, counts.pipelined);
}

}  // namespace
}  // namespace attune::test

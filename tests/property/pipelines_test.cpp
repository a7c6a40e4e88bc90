// Operands that are fetched ahead, by whatever tiles, threads and buffers, leave a product's
// meaning as it was, bit by bit, and nothing is found in their launches. ATTUNE_PROPERTY_PIPELINES
// says how many are compared, ATTUNE_PROPERTY_SEED where seeds begin.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/random/random_pipeline.h"

namespace attune::test {
namespace {

std::int64_t setting(const char* name, std::int64_t fallback) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : fallback;
}

TEST(Pipelines, RandomPipelinesKeepTheMeaning) {
  const std::int64_t wanted = setting("ATTUNE_PROPERTY_PIPELINES", 1000);
  const auto seed = static_cast<std::uint64_t>(setting("ATTUNE_PROPERTY_SEED", 1));
  const PipelineCounts counts = compare_random_pipelines(seed, wanted);
  for (const std::string& failure : counts.failures) ADD_FAILURE() << failure;
  EXPECT_GE(counts.agreed, wanted);
  EXPECT_GE(counts.asynchronous, wanted / 3);
  EXPECT_GE(counts.staged, wanted / 10);
  fmt::print("{} pipelines agreed, {} of them with asynchronous copies, {} through registers\n",
             counts.agreed, counts.asynchronous, counts.staged);
}

}  // namespace
}  // namespace attune::test

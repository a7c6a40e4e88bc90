#include "tuner/measure/builder/prepare_cache.h"

#include <gtest/gtest.h>

namespace attune::builder {
namespace {

PrepareCache::Code code(std::uint64_t id, std::size_t bytes = 1000) {
  auto made = std::make_shared<measure::KernelCode>();
  made->object = std::make_shared<const std::vector<std::byte>>(bytes);
  made->id = id;
  return made;
}

TEST(PrepareCache, KeepsTheFirstOfAnId) {
  PrepareCache cache;
  const auto first = cache.add(code(1));
  EXPECT_EQ(cache.add(code(1)), first);
  EXPECT_EQ(cache.find(1), first);
  EXPECT_EQ(cache.find(2), nullptr);
}

TEST(PrepareCache, ForgetsWhatWasNotAskedForLongest) {
  PrepareCache cache(4000);
  for (std::uint64_t id = 1; id <= 3; ++id) cache.add(code(id));
  EXPECT_NE(cache.find(1), nullptr);
  cache.add(code(4));
  EXPECT_EQ(cache.find(2), nullptr);
  for (const std::uint64_t id : {1, 3, 4}) EXPECT_NE(cache.find(id), nullptr) << id;
}

TEST(PrepareCache, StaysWithinItsBoundHoweverMuchComes) {
  PrepareCache cache(100'000);
  for (std::uint64_t id = 0; id < 20'000; ++id) {
    cache.add(code(id, 500 + id % 2000));
    ASSERT_LE(cache.bytes(), 100'000u);
    ASSERT_NE(cache.find(id), nullptr);
  }
  EXPECT_GT(cache.bytes(), 90'000u);
  // One that exceeds it alone is there until the next comes.
  cache.add(code(50'000, 200'000));
  EXPECT_NE(cache.find(50'000), nullptr);
  cache.add(code(50'001));
  EXPECT_EQ(cache.find(50'000), nullptr);
  EXPECT_LE(cache.bytes(), 100'000u);
}

}  // namespace
}  // namespace attune::builder

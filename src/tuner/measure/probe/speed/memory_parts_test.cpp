#include "tuner/measure/probe/speed/memory_parts.h"

#include <gtest/gtest.h>

namespace attune::probe {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20, kAny = std::int64_t{1} << 40;

// Of cores like Zen 4, eight of which share 32 MiB, and of those of a server with large caches of
// their own.
constexpr CacheSizes kZen4 = {32 << 10, kMiB, 32 * kMiB};
constexpr CacheSizes kSapphireRapids = {48 << 10, 2 * kMiB, 60 * kMiB};

TEST(MemoryParts, OfTheSecondLevelAreBeyondTheFirst) {
  EXPECT_EQ(l2_part(kZen4, 8).bytes, kMiB / 2);
  EXPECT_EQ(l2_part({32 << 10, 64 << 10, 0}, 1).bytes, 64 << 10);
}

TEST(MemoryParts, OfTheThirdLevelAreBeyondTheSecond) {
  EXPECT_EQ(l3_part(kZen4, 1).bytes, 4 * kMiB);
  EXPECT_EQ(l3_part(kZen4, 2).bytes, 4 * kMiB);
  EXPECT_EQ(l3_part(kZen4, 8).bytes, 2 * kMiB);
  EXPECT_EQ(l3_part(kZen4, 8).cores, 8);
  // As many cores as have room there.
  const MemoryPart wide = l3_part(kSapphireRapids, 32);
  EXPECT_EQ(wide.cores, 7);
  EXPECT_GE(wide.bytes, 2 * kSapphireRapids.l2_bytes);
  EXPECT_LE(wide.bytes * wide.cores, kSapphireRapids.l3_bytes / 2);
  // The second level is the last one.
  EXPECT_EQ(l3_part({32 << 10, kMiB, kMiB}, 4).cores, 1);
  EXPECT_EQ(l3_part({32 << 10, kMiB, kMiB}, 4).bytes, 2 * kMiB);
}

TEST(MemoryParts, OfMemoryAreBeyondAllCaches) {
  EXPECT_EQ(far_part(kZen4, 8, kAny).bytes, 16 * kMiB);
  EXPECT_EQ(far_part({48 << 10, kMiB, 512 * kMiB}, 64, kAny).bytes, 16 * kMiB);
  EXPECT_EQ(far_part({64 << 10, 2 * kMiB, 36 * kMiB}, 96, kAny).bytes, 8 * kMiB);
  EXPECT_EQ(far_part({48 << 10, kMiB, 512 * kMiB}, 64, 256 * kMiB).bytes, 4 * kMiB);
}

}  // namespace
}  // namespace attune::probe

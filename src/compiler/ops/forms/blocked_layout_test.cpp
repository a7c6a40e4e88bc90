#include "compiler/ops/forms/blocked_layout.h"

#include <gtest/gtest.h>

#include "compiler/ops/evaluate_testing.h"

namespace attune::ops {
namespace {

TEST(BlockedLayout, PutsChannelsInnermost) {
  // [1, 3, 1, 2] in blocks of two: channels 0 and 1 side by side, then channel 2 beside a zero.
  EXPECT_EQ(pack({1, 2, 1, 2, 2}, 3, {1, 2, 3, 4, 5, 6}), (Values{1, 3, 2, 4, 5, 0, 6, 0}));
}

TEST(BlockedLayout, RoundTrips) {
  Rng rng(1);
  const std::vector<std::int64_t> blocked{2, 2, 3, 4, 8};
  const Values plain = random_values(count_of(plain_shape(blocked, 13)), rng);
  EXPECT_EQ(unpack(blocked, 13, pack(blocked, 13, plain)), plain);
}

}  // namespace
}  // namespace attune::ops

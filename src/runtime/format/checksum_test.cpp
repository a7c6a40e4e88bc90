#include "runtime/format/checksum.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace attune::runtime {
namespace {

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 37 + i / 7);
  return bytes;
}

TEST(Checksum, SeesEveryFlippedBit) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{200}}) {
    std::vector<std::byte> bytes = pattern(size);
    const std::uint64_t sum = checksum(bytes, 5);
    std::set<std::uint64_t> seen = {sum};
    for (std::size_t bit = 0; bit < size * 8; ++bit) {
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      EXPECT_TRUE(seen.insert(checksum(bytes, 5)).second) << "bit " << bit << " of " << size;
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
    EXPECT_EQ(checksum(bytes, 5), sum);
  }
}

TEST(Checksum, SeesLengthSeedAndOrder) {
  const std::vector<std::byte> zeros(130);
  std::set<std::uint64_t> seen;
  for (std::size_t size = 0; size <= zeros.size(); ++size) {
    seen.insert(checksum(std::span(zeros).first(size), 0));
  }
  EXPECT_EQ(seen.size(), zeros.size() + 1);
  const std::vector<std::byte> bytes = pattern(128);
  EXPECT_NE(checksum(bytes, 0), checksum(bytes, 1));
  std::vector<std::byte> swapped(bytes.begin() + 64, bytes.end());
  swapped.insert(swapped.end(), bytes.begin(), bytes.begin() + 64);
  EXPECT_NE(checksum(bytes, 0), checksum(swapped, 0));
}

TEST(Checksum, StaysTheSame) {
  // Stored in files: a change here is a new version of the format.
  EXPECT_EQ(checksum(pattern(1000), 7), 0xc19d86f115e58641ull);
}

}  // namespace
}  // namespace attune::runtime

#include "tuner/measure/probe/guarded_buffer.h"

#include <gtest/gtest.h>

namespace attune::probe {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 63, 64, 65, 4096, 5000, (std::size_t{4} << 20), 5'000'000};

TEST(GuardedBuffer, IsAlignedAndWhole) {
  for (std::size_t bytes : kSizes) {
    for (int stagger : {0, 1, 15}) {
      auto buffer = GuardedBuffer::map(bytes, stagger);
      ASSERT_TRUE(buffer.ok());
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 64, 0u);
      buffer->arm();
      for (std::size_t i = 0; i < bytes; i += 61) buffer->data()[i] = std::byte{1};
      EXPECT_FALSE(buffer->damage().has_value()) << bytes;
    }
  }
}

TEST(GuardedBuffer, NoticesWritesBesideTheData) {
  auto buffer = GuardedBuffer::map(100, 2);
  buffer->arm();
  buffer->data()[100] = std::byte{0};
  EXPECT_EQ(buffer->damage(), Place::After);
  buffer->arm();
  buffer->data()[-1] = std::byte{0};
  EXPECT_EQ(buffer->damage(), Place::Before);
  buffer->arm();
  buffer->data()[100 + 28 + 127] = std::byte{0};  // the last byte before the guard
  EXPECT_EQ(buffer->damage(), Place::After);
}

TEST(GuardedBuffer, PlacesAddresses) {
  auto buffer = GuardedBuffer::map(1000, 0);
  const auto start = reinterpret_cast<std::uintptr_t>(buffer->data());
  EXPECT_EQ(buffer->place_of(start), Place::Inside);
  EXPECT_EQ(buffer->place_of(start + 999), Place::Inside);
  EXPECT_EQ(buffer->place_of(start + 1000), Place::After);
  EXPECT_EQ(buffer->place_of(start + 100'000), Place::After);
  EXPECT_EQ(buffer->place_of(start - 1), Place::Before);
  EXPECT_EQ(buffer->place_of(start + (std::size_t{1} << 30)), Place::Elsewhere);
}

TEST(GuardedBuffer, FitsAnotherSizeInTheSameMemory) {
  auto buffer = GuardedBuffer::map(5'000'000, 3);
  const std::size_t room = buffer->room_bytes();
  buffer->arm();
  buffer->set_writable(false);
  EXPECT_FALSE(buffer->refit(7'000'000, 0));
  for (const std::size_t bytes :
       {std::size_t{100}, std::size_t{4'000'000}, std::size_t{5'000'000}}) {
    ASSERT_TRUE(buffer->refit(bytes, 2));
    EXPECT_EQ(buffer->bytes(), bytes);
    EXPECT_EQ(buffer->room_bytes(), room);
    EXPECT_TRUE(buffer->writable());
    buffer->arm();
    for (std::size_t i = 0; i < bytes; i += 61) buffer->data()[i] = std::byte{1};
    EXPECT_FALSE(buffer->damage().has_value()) << bytes;
    buffer->data()[bytes] = std::byte{1};
    EXPECT_EQ(buffer->damage(), Place::After);
  }
}

TEST(GuardedBuffer, RefusesWhatCannotBeMapped) {
  EXPECT_EQ(GuardedBuffer::map(std::size_t{1} << 60, 0).error().message,
            "cannot map a buffer of 1152921504606846976 bytes");
}

TEST(GuardedBufferDeathTest, WritingBeyondTheGuardDies) {
  auto buffer = GuardedBuffer::map(4096, 0);
  EXPECT_DEATH(static_cast<volatile std::byte*>(buffer->data())[4096] = std::byte{1}, "");
  buffer->set_writable(false);
  EXPECT_DEATH(static_cast<volatile std::byte*>(buffer->data())[0] = std::byte{1}, "");
  auto large = GuardedBuffer::map(100'000, 0);
  ASSERT_TRUE(large->refit(4096, 0));
  EXPECT_DEATH(static_cast<volatile std::byte*>(large->data())[4096] = std::byte{1}, "");
}

}  // namespace
}  // namespace attune::probe

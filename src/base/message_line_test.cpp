#include "base/message_line.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <iterator>
#include <thread>
#include <utility>

#include "base/clock.h"

namespace attune {
namespace {

class MessageLine : public ::testing::Test {
 protected:
  MessageLine() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0); }
  ~MessageLine() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  static std::int64_t after_ms(std::int64_t ms) { return SteadyClock().now_ns() + ms * 1'000'000; }

  int ends_[2] = {-1, -1};
};

TEST_F(MessageLine, CarriesMessagesInOrder) {
  Bytes bytes;
  append_text(bytes, "text");
  append_value(bytes, 7);
  ASSERT_TRUE(send_message(ends_[0], {3, bytes}, kNoDeadline));
  ASSERT_TRUE(send_message(ends_[0], {4, {}}, kNoDeadline));
  LineMessage heard;
  ASSERT_EQ(receive_message(ends_[1], heard, kNoDeadline), Heard::Message);
  EXPECT_EQ(heard.kind, 3u);
  EXPECT_EQ(heard.bytes, bytes);
  ASSERT_EQ(receive_message(ends_[1], heard, kNoDeadline), Heard::Message);
  EXPECT_EQ(heard.kind, 4u);
  EXPECT_TRUE(heard.bytes.empty());
}

TEST_F(MessageLine, CarriesMoreThanTheSystemHolds) {
  const Bytes many(std::size_t{8} << 20, 'x');
  std::thread sender([&] { EXPECT_TRUE(send_message(ends_[0], {1, many}, kNoDeadline)); });
  LineMessage heard;
  EXPECT_EQ(receive_message(ends_[1], heard, kNoDeadline), Heard::Message);
  sender.join();
  EXPECT_EQ(heard.bytes, many);
}

TEST_F(MessageLine, NobodyWaitsLongerThanTheDeadline) {
  LineMessage heard;
  EXPECT_EQ(receive_message(ends_[1], heard, after_ms(5)), Heard::Late);
  const Bytes many(std::size_t{8} << 20, 'x');
  EXPECT_FALSE(send_message(ends_[0], {1, many}, after_ms(5)));  // nobody reads
}

TEST_F(MessageLine, TheEndOfTheOtherIsToldApart) {
  ::close(std::exchange(ends_[0], -1));
  LineMessage heard;
  EXPECT_EQ(receive_message(ends_[1], heard, kNoDeadline), Heard::Gone);
  EXPECT_FALSE(send_message(ends_[1], {1, {}}, kNoDeadline));
}

TEST_F(MessageLine, WhatIsNoMessageEndsIt) {
  const char nonsense[32] = "this is no message of ours, no";
  ASSERT_EQ(::send(ends_[0], nonsense, sizeof nonsense, 0), std::ssize(nonsense));
  LineMessage heard;
  EXPECT_EQ(receive_message(ends_[1], heard, kNoDeadline), Heard::Gone);
}

}  // namespace
}  // namespace attune

// A line between two processes of ours: messages of a kind and bytes, each with its length in
// front, which is checked before anything is read. Nobody waits longer than until a deadline.
#pragma once

#include <cstdint>
#include <limits>

#include "base/isolated.h"

namespace attune {

// What a kind means is the affair of those who talk.
struct LineMessage {
  std::uint32_t kind = 0;
  Bytes bytes = {};
};

enum class Heard { Message, Gone, Late };

inline constexpr std::uint64_t kMostMessageBytes = std::uint64_t{1} << 30;
inline constexpr std::int64_t kNoDeadline = std::numeric_limits<std::int64_t>::max();

// Deadlines are of the steady clock, in nanoseconds. False when the other end is gone or too slow.
bool send_message(int line, const LineMessage& message, std::int64_t deadline_ns);
// What is no message counts as the end of the line.
Heard receive_message(int line, LineMessage& message, std::int64_t deadline_ns);

}  // namespace attune

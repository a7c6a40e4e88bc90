// The line between the process that tunes and the one that holds a device: messages of a kind and
// bytes, each with its length in front, which is checked before anything is read. Nobody waits
// longer than until a deadline.
#pragma once

#include <cstdint>

#include "base/isolated.h"

namespace attune::device_runner {

enum class Kind : std::uint32_t {
  // What is asked for.
  Open = 1,  // a device
  Run,       // load a candidate, prepare it, call it once
  Time,      // call it again and again
  Repeat,    // so many calls in a row
  Fresh,     // call it with inputs that it has not seen
  Forget,    // give its memory back
  // What is answered: how far it is, and in the end one of two.
  Phase = 101,
  Done,
  Failed,
};

struct Message {
  Kind kind = Kind::Failed;
  Bytes bytes = {};
};

enum class Heard { Message, Gone, Late };

// The descriptor under which a process that serves a device finds its line.
inline constexpr int kLine = 3;
inline constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

// Deadlines are of the steady clock, in nanoseconds. False when the other end is gone or too slow.
bool send(int line, const Message& message, std::int64_t deadline_ns);
// What is no message counts as the end of the line.
Heard receive(int line, Message& message, std::int64_t deadline_ns);

}  // namespace attune::device_runner

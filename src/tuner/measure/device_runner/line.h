// What is said on the line between the process that tunes and the one that holds a device.
#pragma once

#include <cstdint>

#include "base/message_line.h"

namespace attune::device_runner {

enum class Kind : std::uint32_t {
  // What is asked for.
  Open = 1,   // a device
  Run,        // load a candidate, prepare it, call it once
  Time,       // call it again and again
  Repeat,     // so many calls in a row
  Fresh,      // call it with inputs that it has not seen
  Forget,     // give its memory back
  Condition,  // how the device is
  // What is answered: how far it is, and in the end one of two.
  Phase = 101,
  Done,
  Failed,
};

struct Message {
  Kind kind = Kind::Failed;
  Bytes bytes = {};
};

// The descriptor under which a process that serves a device finds its line.
inline constexpr int kLine = 3;

inline bool send(int line, Message message, std::int64_t deadline_ns) {
  return send_message(line, {static_cast<std::uint32_t>(message.kind), std::move(message.bytes)},
                      deadline_ns);
}
inline Heard receive(int line, Message& message, std::int64_t deadline_ns) {
  LineMessage heard;
  const Heard how = receive_message(line, heard, deadline_ns);
  message = {static_cast<Kind>(heard.kind), std::move(heard.bytes)};
  return how;
}

}  // namespace attune::device_runner

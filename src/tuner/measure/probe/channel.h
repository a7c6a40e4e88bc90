// A socket between two related processes that carries small fixed messages, each with a file
// descriptor if need be.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/result.h"

namespace attune::probe {

enum class MessageKind : std::uint32_t {
  Open,        // to a worker: here is an exchange (descriptor attached)
  Measure,     // to the server: measure an exchange (attached); to a worker: candidate `value`
  Interleave,  // to a worker: all candidates whose report is pending
  Sentinel,    // time the built-in loops; to a worker: 0 before, 1 after the batch
  Done,        // the answer to each of these but Open
};

struct Message {
  MessageKind kind = MessageKind::Done;
  std::uint32_t value = 0;
  int descriptor = -1;  // owned by the receiver
};

// A descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  int number() const { return number_; }

 private:
  int number_ = -1;
};

// The two ends; closed on exec.
Result<std::pair<Descriptor, Descriptor>> make_channel();

// False when the other end is gone.
bool send(const Descriptor& channel, const Message& message);
// Waits; nothing when the other end is gone.
std::optional<Message> receive(const Descriptor& channel);

}  // namespace attune::probe

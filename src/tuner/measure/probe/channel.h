// A socket between two related processes that carries small fixed messages, with file descriptors
// if need be.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/result.h"

namespace attune::probe {

enum class MessageKind : std::uint32_t {
  Open,        // to a worker: here is an exchange (descriptors attached)
  Measure,     // to the server: measure an exchange (attached); to a worker: candidate `value`
  Interleave,  // to a worker: all candidates whose report is pending
  Sentinel,    // time the built-in loops; to a worker: 0 before, 1 after the batch
  Running,     // from a worker: the first kernel of candidate `value` is about to run
  Alive,       // from the server, now and then while it works
  Done,        // the answer to each of these but Open
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
  bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

inline constexpr std::size_t kMostDescriptors = 3;

struct Message {
  MessageKind kind = MessageKind::Done;
  std::uint32_t value = 0;
  std::array<Descriptor, kMostDescriptors> descriptors = {};  // in the order sent
};

// The two ends; closed on exec.
Result<std::pair<Descriptor, Descriptor>> make_channel();

// False when the other end is gone.
bool send(const Descriptor& channel, MessageKind kind, std::uint32_t value = 0,
          std::span<const int> descriptors = {});
// Does not wait for room: what the other end has no time to read is left out.
void send_in_passing(const Descriptor& channel, MessageKind kind);
// Waits; nothing when the other end is gone, or says what no message is.
std::optional<Message> receive(const Descriptor& channel);
// Whether there is something to receive, the end included, within that time.
bool is_readable(const Descriptor& channel, double milliseconds);

}  // namespace attune::probe

// Memory for one kernel argument, made so that going out of bounds shows: unmapped pages on both
// sides, and known bytes (canaries) in the gap between the data and those pages. Large buffers get
// huge pages as the runtime's tensors do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.h"

namespace attune::probe {

// Where an address lies relative to a buffer.
enum class Place : std::uint8_t { Elsewhere, Before, Inside, After };

class GuardedBuffer {
 public:
  // `stagger` moves the data by that many cache lines away from the guard, so that several buffers
  // of one kernel do not all start at the same page offset.
  static Result<GuardedBuffer> map(std::size_t bytes, int stagger);
  // Makes it one of another size, in the memory that it has: pages that were touched need not be
  // cleared again. Writable afterwards. False when there is not enough of it.
  bool refit(std::size_t bytes, int stagger);

  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  ~GuardedBuffer();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  // That it takes, whatever its size is now.
  std::size_t room_bytes() const { return room_bytes_; }
  int stagger() const { return stagger_; }

  // Writes the canaries; the buffer must be writable.
  void arm();
  // Before or After when canaries there are damaged.
  std::optional<Place> damage() const;
  void set_writable(bool writable);
  bool writable() const { return writable_; }

  // The guard pages count as Before and After.
  Place place_of(std::uintptr_t address) const;

 private:
  GuardedBuffer() = default;
  void place(std::size_t bytes, int stagger);

  std::byte* mapping_ = nullptr;  // guards included
  std::size_t mapping_bytes_ = 0;
  std::byte* room_ = nullptr;  // the accessible pages
  std::size_t room_bytes_ = 0;
  std::byte* body_ = nullptr;  // those of the data and its canaries, at the end of the room
  std::size_t body_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  int stagger_ = 0;
  bool writable_ = true;
};

}  // namespace attune::probe

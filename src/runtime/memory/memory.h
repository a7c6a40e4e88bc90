// Owned memory for tensors and workspaces: aligned to 64 bytes, and backed by huge pages where it
// is large enough for them to save address-translation misses.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace attune::runtime {

inline constexpr std::size_t kAlignment = 64;

// Huge: also for a block that is smaller than such a page. In small pages it is luck which of its
// parts share lines of a cache, and so how fast a kernel is.
enum class Pages { BySize, Huge };

class Memory {
 public:
  Memory() = default;
  // Zeroed memory. Fails with Exhausted when the system has no more; 0 bytes is a null block.
  static Result<Memory> allocate(std::size_t bytes, Pages pages = Pages::BySize);

  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  // Writes end the process from here on; blocks from the heap stay as they are.
  void make_read_only();

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t mapped_bytes_ = 0;  // 0 when the block came from the heap
};

// Scratch memory that grows to the largest request and is reused from call to call.
class Workspace {
 public:
  // A block of at least `bytes`; valid until the next reserve. Contents are undefined.
  Result<void*> reserve(std::size_t bytes);
  std::size_t capacity() const { return memory_.bytes(); }

 private:
  Memory memory_;
};

}  // namespace attune::runtime

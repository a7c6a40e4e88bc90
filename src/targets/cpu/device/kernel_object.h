// What a kernel object says of itself: an ELF shared object as our own code generator and lld make
// it, read from bytes that nobody vouches for. Every offset is compared with what it points into,
// and all that kernels have no use for is refused: initialisers, resolver functions, other
// libraries, memory that is written and executed. What remains is plain data that can be laid out
// in memory without running anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace attune::cpu {

enum class Access { Read, ReadWrite, ReadExecute };

// Addresses count from the start of the object's own address space.
struct Segment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // zero behind its contents
  std::span<const std::byte> contents = {};
  Access access = Access::Read;

  std::uint64_t end() const { return address + bytes; }
};

// The word at `at`, within a writable segment, becomes the place in memory of address `target`.
struct Relocation {
  std::uint64_t at = 0;
  std::uint64_t target = 0;
};

// An exported function; within the contents of an executable segment.
struct KernelSymbol {
  std::string name = {};
  std::uint64_t address = 0;
};

struct KernelObject {
  std::vector<Segment> segments = {};  // ascending; no two share a page of memory
  std::uint64_t alignment = 1;         // of the address space, a power of two
  std::vector<Relocation> relocations = {};
  std::vector<KernelSymbol> kernels = {};  // by name
  // Within a writable segment: read only once the relocations are applied.
  std::uint64_t sealed_address = 0, sealed_bytes = 0;

  std::uint64_t end() const { return segments.back().end(); }
};

// Refuses whatever is not for this machine or not as described, in one sentence. `bytes` must stay
// while the contents of segments are used, and must not change meanwhile.
Result<KernelObject> read_kernel_object(std::span<const std::byte> bytes);

// Of this machine's memory.
std::uint64_t page_bytes();

}  // namespace attune::cpu

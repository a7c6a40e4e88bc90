#include "runtime/memory/memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace attune::runtime {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLeastInHugePages = std::size_t{64} << 10;

Error exhausted(std::size_t bytes) {
  return {ErrorCode::Exhausted, "cannot allocate " + std::to_string(bytes) + " bytes of memory",
          "use smaller shapes, or free memory on this machine"};
}

// A mapping whose start lies on a huge-page boundary.
void* map_huge(std::size_t bytes) {
  const std::size_t reserved = bytes + kHugePage;
  void* raw = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = (start + kHugePage - 1) & ~(kHugePage - 1);
  const std::size_t before = aligned - start;
  if (before > 0) munmap(raw, before);
  munmap(reinterpret_cast<void*>(aligned + bytes), reserved - before - bytes);
  auto* result = reinterpret_cast<void*>(aligned);
  madvise(result, bytes, MADV_HUGEPAGE);  // a wish; ordinary pages work as well
  return result;
}

}  // namespace

Result<Memory> Memory::allocate(std::size_t bytes, Pages pages) {
  Memory memory;
  if (bytes == 0) return memory;
  if (bytes > SIZE_MAX / 2) return exhausted(bytes);
  if (bytes >= (pages == Pages::Huge ? kLeastInHugePages : kHugePage)) {
    const std::size_t rounded = (bytes + kHugePage - 1) & ~(kHugePage - 1);
    memory.data_ = map_huge(rounded);
    memory.mapped_bytes_ = rounded;
  } else {
    const std::size_t rounded = (bytes + kAlignment - 1) & ~(kAlignment - 1);
    memory.data_ = std::aligned_alloc(kAlignment, rounded);
    if (memory.data_ != nullptr) std::memset(memory.data_, 0, rounded);
  }
  if (memory.data_ == nullptr) {
    memory.mapped_bytes_ = 0;
    return exhausted(bytes);
  }
  memory.bytes_ = bytes;
  return memory;
}

Memory::Memory(Memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  return *this;
}

void Memory::make_read_only() {
  if (mapped_bytes_ > 0) mprotect(data_, mapped_bytes_, PROT_READ);
}

Memory::~Memory() {
  if (mapped_bytes_ > 0) {
    munmap(data_, mapped_bytes_);
  } else {
    std::free(data_);
  }
}

Result<void*> Workspace::reserve(std::size_t bytes) {
  if (bytes > memory_.bytes()) {
    memory_ = Memory();
    ATTUNE_ASSIGN(memory_, Memory::allocate(bytes));
  }
  return memory_.data();
}

}  // namespace attune::runtime

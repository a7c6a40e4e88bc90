#include "tuner/measure/probe/guarded_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace attune::probe {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLine = 64;
// Buffers from this size on lie in huge pages, as they will when a model runs: in small ones, it is
// luck which lines of the second-level cache they share.
constexpr std::size_t kLeastHuge = std::size_t{64} << 10;
// Wide enough that a stride of a row or two lands in it; it costs address space only.
constexpr std::size_t kGuard = std::size_t{1} << 20;
constexpr std::byte kCanary{0xa5};

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

std::size_t slack_of(int stagger) { return static_cast<std::size_t>(stagger) * kLine; }

std::size_t body_bytes_for(std::size_t bytes, int stagger) {
  return round_up(kLine + round_up(bytes, kLine) + slack_of(stagger), kPage);
}

bool intact(const std::byte* begin, const std::byte* end) {
  return std::all_of(begin, end, [](std::byte b) { return b == kCanary; });
}

}  // namespace

// At the end of the room, so that going past it hits the guard.
void GuardedBuffer::place(std::size_t bytes, int stagger) {
  bytes_ = bytes;
  stagger_ = stagger;
  body_bytes_ = body_bytes_for(bytes, stagger);
  body_ = room_ + room_bytes_ - body_bytes_;
  data_ = body_ + body_bytes_ - slack_of(stagger) - round_up(bytes, kLine);
}

Result<GuardedBuffer> GuardedBuffer::map(std::size_t bytes, int stagger) {
  const bool huge = bytes >= kLeastHuge;
  const Error exhausted = {ErrorCode::Exhausted,
                           "cannot map a buffer of " + std::to_string(bytes) + " bytes",
                           "free memory on this machine"};
  if (bytes > SIZE_MAX / 4) return exhausted;
  GuardedBuffer buffer;
  buffer.room_bytes_ = round_up(body_bytes_for(bytes, stagger), huge ? kHugePage : kPage);
  buffer.mapping_bytes_ = buffer.room_bytes_ + 2 * kGuard + (huge ? kHugePage : 0);
  void* raw = mmap(nullptr, buffer.mapping_bytes_, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) {
    buffer.mapping_bytes_ = 0;
    return exhausted;
  }
  buffer.mapping_ = static_cast<std::byte*>(raw);
  const auto start = reinterpret_cast<std::uintptr_t>(raw) + kGuard;
  buffer.room_ = reinterpret_cast<std::byte*>(huge ? round_up(start, kHugePage) : start);
  buffer.place(bytes, stagger);
  if (mprotect(buffer.room_, buffer.room_bytes_, PROT_READ | PROT_WRITE) != 0) return exhausted;
  if (huge) madvise(buffer.room_, buffer.room_bytes_, MADV_HUGEPAGE);
  return buffer;
}

bool GuardedBuffer::refit(std::size_t bytes, int stagger) {
  if (bytes > room_bytes_ || body_bytes_for(bytes, stagger) > room_bytes_) return false;
  place(bytes, stagger);
  set_writable(true);
  return true;
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept { *this = std::move(other); }

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  std::swap(room_bytes_, other.room_bytes_);
  std::swap(room_, other.room_);
  std::swap(body_, other.body_);
  std::swap(body_bytes_, other.body_bytes_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(stagger_, other.stagger_);
  std::swap(writable_, other.writable_);
  return *this;
}

GuardedBuffer::~GuardedBuffer() {
  if (mapping_bytes_ > 0) munmap(mapping_, mapping_bytes_);
}

void GuardedBuffer::arm() {
  std::memset(body_, static_cast<int>(kCanary), static_cast<std::size_t>(data_ - body_));
  std::byte* const end = data_ + bytes_;
  std::memset(end, static_cast<int>(kCanary), static_cast<std::size_t>(body_ + body_bytes_ - end));
}

std::optional<Place> GuardedBuffer::damage() const {
  if (!intact(body_, data_)) return Place::Before;
  if (!intact(data_ + bytes_, body_ + body_bytes_)) return Place::After;
  return std::nullopt;
}

void GuardedBuffer::set_writable(bool writable) {
  if (writable == writable_) return;
  mprotect(room_, room_bytes_, PROT_READ | (writable ? PROT_WRITE : 0));
  writable_ = writable;
}

Place GuardedBuffer::place_of(std::uintptr_t address) const {
  const auto at = [](const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p); };
  if (address < at(room_) - kGuard || address >= at(room_) + room_bytes_ + kGuard) {
    return Place::Elsewhere;
  }
  if (address < at(data_)) return Place::Before;
  return address < at(data_) + bytes_ ? Place::Inside : Place::After;
}

}  // namespace attune::probe

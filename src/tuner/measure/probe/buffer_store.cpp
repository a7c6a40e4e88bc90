#include "tuner/measure/probe/buffer_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/memory/fill.h"

namespace attune::probe {
namespace {

std::size_t stride_of(const SlotNeed& need) {
  return need.copies == 1 ? need.bytes : (need.bytes + 63) / 64 * 64;
}

std::size_t total_bytes(const SlotNeed& need) {
  return stride_of(need) * static_cast<std::size_t>(need.copies - 1) + need.bytes;
}

// Equal fills, so that filled contents can stand for each other.
bool same_fill(const SlotNeed& a, const SlotNeed& b) {
  return a.contents.empty() && b.contents.empty() && a.read_only == b.read_only &&
         a.bytes == b.bytes && a.copies == b.copies && a.stagger == b.stagger && a.type == b.type &&
         a.seed == b.seed && a.fill_index == b.fill_index && a.prepared_by == b.prepared_by;
}

std::uint64_t checksum_of(const std::byte* data, std::size_t bytes, std::uint64_t sum) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;
  std::uint64_t lanes[4] = {sum, 1, 2, 3};  // side by side in the processor
  std::size_t at = 0;
  for (; at + sizeof lanes <= bytes; at += sizeof lanes) {
    std::uint64_t words[4];
    std::memcpy(words, data + at, sizeof words);
    for (int i = 0; i < 4; ++i) lanes[i] = (lanes[i] ^ words[i]) * kFactor;
  }
  for (; at < bytes; ++at) {
    lanes[0] = (lanes[0] ^ std::to_integer<std::uint64_t>(data[at])) * kFactor;
  }
  return ((lanes[0] * kFactor ^ lanes[1]) * kFactor ^ lanes[2]) * kFactor ^ lanes[3];
}

// Of large ones so many pieces, from the first byte to the last.
std::uint64_t checksum_of(const BufferStore::Slot& slot) {
  constexpr std::size_t kPieces = 64, kPieceBytes = 64 * 1024;
  const std::size_t bytes = slot.filled_for.bytes;
  const std::byte* const data = slot.memory.data();
  if (bytes <= kPieces * kPieceBytes) return checksum_of(data, bytes, 0);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kPieces; ++i) {
    sum = checksum_of(data + (bytes - kPieceBytes) / (kPieces - 1) * i, kPieceBytes, sum);
  }
  return sum;
}

void copy_and_protect(BufferStore::Slot& slot) {
  slot.checksum = checksum_of(slot);
  for (std::int64_t k = 1; k < slot.filled_for.copies; ++k) {
    std::memcpy(slot.copy(k), slot.memory.data(), slot.filled_for.bytes);
  }
  slot.memory.set_writable(false);
}

void fill_slot(BufferStore::Slot& slot, const SlotNeed& need) {
  slot.memory.set_writable(true);
  slot.memory.arm();
  slot.copy_stride = stride_of(need);
  slot.filled_for = need;
  slot.filled_for.contents = {};
  slot.reusable = need.contents.empty() && need.prepared_by == 0;
  if (!need.read_only || need.prepared_by != 0) return;
  if (need.contents.empty()) {
    const auto elements = static_cast<std::int64_t>(need.bytes / runtime::byte_size(need.type));
    runtime::fill(slot.memory.data(), need.type, elements, need.seed, need.fill_index);
  } else {
    std::memcpy(slot.memory.data(), need.contents.data(), need.bytes);
  }
  copy_and_protect(slot);
}

}  // namespace

BufferStore::Slot* BufferStore::find_ready(const SlotNeed& need, const std::vector<Slot*>& taken) {
  for (Slot& slot : slots_) {
    if (slot.reusable && same_fill(slot.filled_for, need) &&
        std::find(taken.begin(), taken.end(), &slot) == taken.end()) {
      return &slot;
    }
  }
  return nullptr;
}

BufferStore::Slot* BufferStore::find_idle(std::size_t bytes, int stagger) {
  Slot* oldest = nullptr;
  for (Slot& slot : slots_) {
    if (slot.users > 0 || slot.memory.bytes() != bytes || slot.memory.stagger() != stagger)
      continue;
    if (oldest == nullptr || slot.last_used < oldest->last_used) oldest = &slot;
  }
  return oldest;
}

BufferStore::Slot* BufferStore::take_over(std::size_t bytes, int stagger) {
  // Small things do not sit in large ones, which others will want.
  constexpr std::size_t kMostWaste = 4;
  Slot* oldest = nullptr;
  for (Slot& slot : slots_) {
    const std::size_t room = slot.memory.room_bytes();
    if (slot.users > 0 || room < bytes || room / kMostWaste > bytes) continue;
    if (oldest == nullptr || slot.last_used < oldest->last_used) oldest = &slot;
  }
  return oldest != nullptr && oldest->memory.refit(bytes, stagger) ? oldest : nullptr;
}

void BufferStore::evict_idle(std::size_t room_for) {
  while (mapped_bytes() + room_for > static_cast<std::size_t>(kKeepBytes)) {
    auto oldest = slots_.end();
    for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
      if (slot->users > 0) continue;
      if (oldest == slots_.end() || slot->last_used < oldest->last_used) oldest = slot;
    }
    if (oldest == slots_.end()) return;
    slots_.erase(oldest);
  }
}

std::size_t BufferStore::mapped_bytes() const {
  std::size_t total = 0;
  for (const Slot& slot : slots_) total += slot.memory.room_bytes();
  return total;
}

Result<BufferStore::Slot*> BufferStore::acquire(const SlotNeed& need,
                                                const std::vector<Slot*>& taken) {
  Slot* slot = find_ready(need, taken);
  if (slot == nullptr) {
    slot = find_idle(total_bytes(need), need.stagger);
    if (slot == nullptr &&
        mapped_bytes() + total_bytes(need) > static_cast<std::size_t>(kKeepBytes)) {
      slot = take_over(total_bytes(need), need.stagger);
    }
    if (slot == nullptr) {
      evict_idle(total_bytes(need));
      ATTUNE_ASSIGN(GuardedBuffer memory, GuardedBuffer::map(total_bytes(need), need.stagger));
      slots_.push_back(Slot{.memory = std::move(memory), .filled_for = {}});
      slot = &slots_.back();
    }
    fill_slot(*slot, need);
  }
  ++slot->users;
  slot->last_used = ++uses_;
  return slot;
}

void BufferStore::release(Slot* slot) { --slot->users; }

bool BufferStore::is_as_filled(const Slot& slot) {
  return !slot.filled_for.read_only || checksum_of(slot) == slot.checksum;
}

void BufferStore::open(Slot& slot) {
  slot.memory.set_writable(true);
  slot.reusable = false;
}

void BufferStore::seal(Slot& slot) {
  copy_and_protect(slot);
  slot.reusable = true;
}

}  // namespace attune::probe

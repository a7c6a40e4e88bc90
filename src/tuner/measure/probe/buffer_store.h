// The buffers of candidates, kept from one to the next: consecutive candidates of a task have the
// same inputs, which are then neither mapped nor filled again.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "base/result.h"
#include "tuner/measure/probe/candidate.h"
#include "tuner/measure/probe/guarded_buffer.h"

namespace attune::probe {

// What a slot must hold.
struct SlotNeed {
  std::size_t bytes = 0;
  int stagger = 0;
  std::int64_t copies = 1;  // rotating buffers: equal copies, each on a cache line of its own
  bool read_only = false;
  // How to fill a read-only slot: explicit contents, or runtime::fill.
  std::span<const std::byte> contents = {};
  runtime::DType type = runtime::DType::F32;
  std::uint64_t seed = 0;
  int fill_index = 0;
  // Not 0: what output `fill_index` of this preparation wrote; filled by whoever runs that.
  std::uint64_t prepared_by = 0;
};

class BufferStore {
 public:
  // Idle slots are kept up to this much.
  static constexpr std::int64_t kKeepBytes = std::int64_t{768} << 20;

  struct Slot {
    GuardedBuffer memory;
    SlotNeed filled_for;
    std::size_t copy_stride = 0;
    bool reusable = false;       // the contents are those of the fill, or of the preparation
    std::uint64_t checksum = 0;  // of read-only ones, as filled
    int users = 0;
    std::uint64_t last_used = 0;

    std::byte* copy(std::int64_t k) const {
      return memory.data() + static_cast<std::size_t>(k) * copy_stride;
    }
  };

  // A filled (read-only) or writable slot, armed. Slots in `taken`, those of the same candidate,
  // are not shared; others are where their contents allow. Give it back with release().
  Result<Slot*> acquire(const SlotNeed& need, const std::vector<Slot*>& taken);
  void release(Slot* slot);
  // Before and after a preparation writes the first copy of its slots.
  static void open(Slot& slot);
  static void seal(Slot& slot);
  // Whether a read-only slot has the contents that it was given: all of its first copy when that is
  // small, else pieces of it.
  static bool is_as_filled(const Slot& slot);

  std::size_t mapped_bytes() const;

 private:
  Slot* find_ready(const SlotNeed& need, const std::vector<Slot*>& taken);
  Slot* find_idle(std::size_t bytes, int stagger);
  // The slot that was idle for longest and has room, made to fit; null: there is none.
  Slot* take_over(std::size_t bytes, int stagger);
  void evict_idle(std::size_t room_for);

  std::list<Slot> slots_;
  std::uint64_t uses_ = 0;
};

}  // namespace attune::probe

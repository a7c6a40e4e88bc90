#include "tuner/measure/probe/buffer_store.h"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/memory/fill.h"

namespace attune::probe {
namespace {

SlotNeed input(std::size_t bytes, int index) {
  return {.bytes = bytes, .stagger = index, .read_only = true, .seed = 1, .fill_index = index};
}

TEST(BufferStore, FillsAsTheRuntimeDoes) {
  BufferStore store;
  auto slot = store.acquire(input(400, 2), {});
  ASSERT_TRUE(slot.ok());
  std::vector<float> expected(100);
  runtime::fill(expected.data(), runtime::DType::F32, 100, 1, 2);
  EXPECT_EQ(std::memcmp((*slot)->memory.data(), expected.data(), 400), 0);
  EXPECT_FALSE((*slot)->memory.writable());
}

TEST(BufferStore, ReusesEqualFillsAndRefillsOthers) {
  BufferStore store;
  BufferStore::Slot* first = *store.acquire(input(400, 0), {});
  EXPECT_EQ(*store.acquire(input(400, 0), {}), first);  // shared by two candidates
  store.release(first);
  store.release(first);
  SlotNeed other = input(400, 0);
  other.seed = 2;
  EXPECT_EQ(*store.acquire(other, {}), first);  // idle memory of the right size, filled anew
  EXPECT_NE(*store.acquire(input(400, 0), {}), first);
}

TEST(BufferStore, OneCandidateNeverGetsASlotTwice) {
  BufferStore store;
  const SlotNeed output{.bytes = 64};
  BufferStore::Slot* first = *store.acquire(output, {});
  EXPECT_NE(*store.acquire(output, {first}), first);
  EXPECT_EQ(*store.acquire(output, {}), first);
}

TEST(BufferStore, MemoryIsTakenOverWhenThereIsNoRoomForMore) {
  BufferStore store;
  BufferStore::Slot* large = *store.acquire({.bytes = 500'000'000}, {});
  store.release(large);
  BufferStore::Slot* small = *store.acquire({.bytes = 4096}, {});
  EXPECT_NE(small, large) << "there is room for both";
  BufferStore::Slot* other = *store.acquire({.bytes = 400'000'000, .stagger = 2}, {});
  EXPECT_EQ(other, large);
  EXPECT_EQ(other->memory.bytes(), 400'000'000u);
  EXPECT_NE(*store.acquire({.bytes = 400'000'000}, {}), other) << "it is in use";
}

TEST(BufferStore, ExplicitContentsAreNotReused) {
  BufferStore store;
  const std::vector<std::byte> bytes(64, std::byte{7});
  SlotNeed need = input(64, 0);
  need.contents = bytes;
  BufferStore::Slot* slot = *store.acquire(need, {});
  EXPECT_EQ(slot->memory.data()[63], std::byte{7});
  store.release(slot);
  slot = *store.acquire(input(64, 0), {});
  float first = 0.0f;
  runtime::fill(&first, runtime::DType::F32, 1, 1, 0);
  EXPECT_EQ(std::memcmp(slot->memory.data(), &first, 4), 0);
}

TEST(BufferStore, CopiesAreEqualAndApart) {
  BufferStore store;
  SlotNeed need = input(100, 0);
  need.copies = 3;
  BufferStore::Slot* slot = *store.acquire(need, {});
  EXPECT_EQ(slot->copy(1) - slot->copy(0), 128);
  EXPECT_EQ(std::memcmp(slot->copy(2), slot->copy(0), 100), 0);
}

}  // namespace
}  // namespace attune::probe

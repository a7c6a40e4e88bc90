#include "tuner/measure/probe/speed/memory_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "runtime/memory/memory.h"

namespace attune::probe {
namespace {

// How many bytes from the first on a loop of writes has changed, of four rounds and one behind.
std::int64_t written(std::int64_t rounds) {
  const auto memory = runtime::Memory::allocate(5 * kRoundBytes);
  auto* data = static_cast<char*>(memory->data());
  vector_writes()(data, 4 * kRoundBytes, rounds);
  // Elements are 1.0f, which has a zero in two of its bytes.
  const auto* elements = reinterpret_cast<const float*>(data);
  const std::int64_t all = 5 * kRoundBytes / 4;
  const float* end = std::find(elements, elements + all, 0.0f);
  EXPECT_EQ(std::count(end, elements + all, 0.0f), elements + all - end);
  EXPECT_EQ(std::count(elements, end, 1.0f), end - elements);
  return (end - elements) * 4;
}

TEST(MemoryLoop, GoesRoundByRoundAndBeginsAnew) {
  EXPECT_EQ(written(0), 0);
  EXPECT_EQ(written(1), kRoundBytes);
  EXPECT_EQ(written(3), 3 * kRoundBytes);
  EXPECT_EQ(written(4), 4 * kRoundBytes);
  EXPECT_EQ(written(4'003), 4 * kRoundBytes);
}

TEST(MemoryLoop, ReadingChangesNothing) {
  const auto memory = runtime::Memory::allocate(2 * kRoundBytes);
  auto* data = static_cast<char*>(memory->data());
  for (std::int64_t i = 0; i < 2 * kRoundBytes; ++i) data[i] = static_cast<char>(i % 97);
  const std::string before(data, 2 * kRoundBytes);
  for (const MemoryLoop loop : {vector_reads(), broadcast_reads()}) loop(data, kRoundBytes, 9);
  EXPECT_EQ(std::string(data, 2 * kRoundBytes), before);
  EXPECT_EQ(kRoundBytes % memory_vector_bytes(), 0);
}

}  // namespace
}  // namespace attune::probe

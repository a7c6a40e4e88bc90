#include "tuner/measure/probe/speed/line_latency.h"

#include <gtest/gtest.h>

#include "runtime/memory/memory.h"

namespace attune::probe {
namespace {

TEST(LineLatency, GoesFromLineToLineWithinItsMemory) {
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{5} << 20}) {
    const auto memory = runtime::Memory::allocate(bytes);
    ASSERT_TRUE(memory.ok());
    const double ns =
        line_latency_ns(static_cast<char*>(memory->data()), static_cast<std::int64_t>(bytes));
    EXPECT_GT(ns, 0.1);
    EXPECT_LT(ns, 1e6);
  }
}

}  // namespace
}  // namespace attune::probe

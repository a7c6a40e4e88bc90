#include "tuner/measure/probe/speed/speed.h"

#include <gtest/gtest.h>

#include "runtime/execution/affinity.h"

namespace attune::probe {
namespace {

TEST(Speed, HasEveryFigureAndLeavesTheCallerWhereItIs) {
  const std::vector<int> before = runtime::allowed_cores();
  const auto speed = measure_speed({.cores = before, .seconds = 0.001});
  ASSERT_TRUE(speed.ok());
  const CoreSpeed& core = speed->core;
  for (const double figure :
       {core.cycles, core.fma_vectors, core.fma_bytes, core.chained_fmas, core.broadcasts,
        core.load_bytes, core.store_bytes, speed->one.l2, speed->one.l3, speed->one.dram,
        speed->all.l2, speed->all.l3, speed->all.dram, speed->dram_latency_ns, speed->fma_bytes_all,
        speed->exchange}) {
    EXPECT_GT(figure, 0);
  }
  EXPECT_EQ(runtime::allowed_cores(), before);
}

TEST(Speed, IsNotMeasuredOnUnknownCores) {
  EXPECT_EQ(measure_speed({.cores = {8000}}).error().message,
            "cannot pin to core 8000: Invalid argument");
}

}  // namespace
}  // namespace attune::probe

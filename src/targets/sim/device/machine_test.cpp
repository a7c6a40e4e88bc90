#include "targets/sim/device/machine.h"

#include <gtest/gtest.h>

namespace attune::sim {
namespace {

TEST(Machine, PrintsWhatDiffers) {
  EXPECT_EQ(to_string(Machine{}), "");
  const auto machine = parse_machine("-shared_kb=16 -multiprocessors=2");
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  EXPECT_EQ(machine->shared_kb, 16);
  EXPECT_EQ(to_string(*machine), "-multiprocessors=2 -shared_kb=16");
}

TEST(Machine, SaysWhatIsWrong) {
  EXPECT_EQ(parse_machine("-shared_kb=none").error().message,
            "-shared_kb of a simulated device is 'none'");
  EXPECT_EQ(parse_machine("-shared_kb=0").error().hint, "choose a number from 1 to 1024");
  EXPECT_EQ(parse_machine("-mcpu=znver3").error().message,
            "a simulated device has no attribute '-mcpu=znver3'");
  EXPECT_EQ(parse_machine("fast").error().hint,
            "attributes are -multiprocessors, -shared_kb, -warp, -threads_per_block, "
            "-register_bytes, -clock_mhz");
}

}  // namespace
}  // namespace attune::sim

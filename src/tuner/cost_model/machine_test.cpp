#include "tuner/cost_model/machine.h"

#include <gtest/gtest.h>

namespace attune::cost_model {
namespace {

TEST(MachineModel, StoresAsTheTargetSays) {
  target::Target target;
  target.machine = {.load_bytes_per_cycle = 128};
  EXPECT_EQ(MachineModel(target).store_cycles(128), 2);
  target.machine.store_bytes_per_cycle = 32;
  EXPECT_EQ(MachineModel(target).store_cycles(128), 4);
  EXPECT_EQ(MachineModel(target).store_cycles(16), 1);  // one instruction a cycle
}

}  // namespace
}  // namespace attune::cost_model

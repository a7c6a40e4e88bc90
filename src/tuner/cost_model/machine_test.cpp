#include "tuner/cost_model/machine.h"

#include <gtest/gtest.h>

namespace attune::cost_model {
namespace {

// What it was fitted to: other cores are seen in proportion.
TEST(MachineModel, BeginsAsManyInstructionsAsKernelsDo) {
  target::Target target;
  target.machine.issue_per_cycle = 6;
  target.machine.reorder_window = 320;
  EXPECT_DOUBLE_EQ(MachineModel(target).issue_per_cycle, 5.5);
  EXPECT_DOUBLE_EQ(MachineModel(target).reorder_window, 256);
  target.machine.issue_per_cycle = 3;
  target.machine.reorder_window = 0;
  EXPECT_DOUBLE_EQ(MachineModel(target).issue_per_cycle, 2.75);
  EXPECT_EQ(MachineModel(target).reorder_window, 0);
}

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

#include "compiler/model/plan/device_plan.h"

#include <gtest/gtest.h>

namespace attune::model {
namespace {

using namespace runtime;

// x is an input, w a weight, y an output, t lies in between.
Plan small_plan() {
  Plan plan;
  plan.target = "cpu";
  plan.inputs = {{.name = "x", .dims = {{.maximum = 16}}}};
  plan.outputs = {{.name = "y", .dims = {{.maximum = 16}}}};
  plan.buffers = {{Place::Input, 0, 64},
                  {Place::Constant, 128, 64},
                  {Place::Arena, 64, 64},
                  {Place::Output, 0, 64}};
  plan.kernels = {{.symbol = "add", .arguments = {{64, false}, {64, false}, {64, true}}}};
  plan.arena_bytes = 128;
  plan.peak_bytes = 256;
  return plan;
}

HostCall negate(BufferId from, BufferId to) {
  const std::vector<Dim> dims = {{.maximum = 16}};
  return {"Neg", {}, {{from, DType::F32, dims}}, {{to, DType::F32, dims}}, "neg"};
}

Status valid(const Plan& plan) { return validate(plan, {.weight_bytes = 256, .objects = 1}); }

const Buffer& at(const Plan& plan, BufferId id) {
  return plan.buffers[static_cast<std::size_t>(id)];
}

TEST(DevicePlan, KernelsFindEverythingOnTheDevice) {
  Plan plan = small_plan();
  plan.body = {{KernelCall{.kernel = 0, .buffers = {0, 1, 3}, .layer = "add"}}};
  const Plan moved = on_device(plan);
  EXPECT_TRUE(valid(moved).ok()) << valid(moved).error().message;
  EXPECT_EQ(moved.kernel_space, Space::Device);
  ASSERT_EQ(moved.body.size(), 3u);
  const auto& up = std::get<Copy>(moved.body[0].kind);
  const auto& call = std::get<KernelCall>(moved.body[1].kind);
  const auto& down = std::get<Copy>(moved.body[2].kind);
  EXPECT_EQ(at(moved, up.from), plan.buffers[0]);
  EXPECT_EQ(up.to, call.buffers[0]);
  EXPECT_EQ(at(moved, call.buffers[1]), (Buffer{Place::Constant, 128, 64, Space::Device}));
  EXPECT_EQ(down.from, call.buffers[2]);
  EXPECT_EQ(at(moved, down.to), plan.buffers[3]);
  // Input and output have room of their own there, and the host keeps no arena.
  EXPECT_EQ(moved.device_arena_bytes, 128 + 64 + 64);
  EXPECT_EQ(moved.arena_bytes, 0);
}

TEST(DevicePlan, HostOperatorsSeeCopies) {
  Plan plan = small_plan();
  plan.body = {{KernelCall{.kernel = 0, .buffers = {0, 1, 2}, .layer = "add"}}, {negate(2, 3)}};
  const Plan moved = on_device(plan);
  EXPECT_TRUE(valid(moved).ok()) << valid(moved).error().message;
  // Up, kernel, down, host, up, and at the end down again.
  ASSERT_EQ(moved.body.size(), 6u);
  const auto& call = std::get<KernelCall>(moved.body[1].kind);
  const auto& down = std::get<Copy>(moved.body[2].kind);
  const auto& host = std::get<HostCall>(moved.body[3].kind);
  EXPECT_EQ(down.from, call.buffers[2]);
  EXPECT_EQ(down.to, host.inputs[0].buffer);
  EXPECT_EQ(at(moved, down.to), plan.buffers[2]);
  EXPECT_EQ(at(moved, down.from).position, plan.buffers[2].position);
  EXPECT_EQ(moved.arena_bytes, 128);
}

TEST(DevicePlan, ConditionsAndIterationsCrossOver) {
  Plan plan = small_plan();
  plan.buffers.push_back({Place::Arena, 128, 8});  // 4: the iteration
  plan.buffers.push_back({Place::Arena, 192, 1});  // 5: the condition
  plan.arena_bytes = 256;
  Loop loop{.condition = 5, .iteration = 4, .body = {}, .layer = "loop"};
  loop.body = {{If{
      .condition = 5, .then_block = {{Copy{.from = 0, .to = 3, .bytes = 64}}}, .else_block = {}}}};
  plan.body = {{loop}};
  const Plan moved = on_device(plan);
  EXPECT_TRUE(valid(moved).ok()) << valid(moved).error().message;
  // The input goes up, then the condition comes down, before the loop and after each of its bodies.
  ASSERT_EQ(moved.body.size(), 4u);
  const auto& changed = std::get<Loop>(moved.body[2].kind);
  EXPECT_EQ(at(moved, changed.condition), plan.buffers[5]);
  EXPECT_EQ(at(moved, changed.iteration), plan.buffers[4]);
  ASSERT_EQ(changed.body.size(), 4u);  // iteration up, condition down, if, condition down
  EXPECT_EQ(std::get<Copy>(changed.body[0].kind).from, changed.iteration);
  EXPECT_EQ(std::get<Copy>(changed.body[3].kind).to, changed.condition);
}

TEST(DevicePlan, WhatCannotBeReachedIsRefused) {
  Plan plan = on_device(small_plan());
  plan.buffers = {{Place::Input, 0, 64, Space::Device}};
  EXPECT_EQ(valid(plan).error().message,
            "the plan is invalid: buffer 0 cannot lie in the memory of a device");
  plan = small_plan();
  plan.kernel_space = Space::Device;
  plan.body = {{KernelCall{.kernel = 0, .buffers = {0, 1, 3}, .layer = "add"}}};
  EXPECT_EQ(valid(plan).error().message,
            "the plan is invalid: kernel 'add' cannot reach buffer 0 in the memory of the host");
}

}  // namespace
}  // namespace attune::model

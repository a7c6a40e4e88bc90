// What is predicted of launches, and which schedules that makes the defaults of a large device.
#include "tuner/cost_model/launches/launch_model.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/ops/algorithms/conv2d_gemm.h"
#include "compiler/ops/forms/matmul.h"
#include "tuner/cost_model/descent.h"
#include "tuner/space/template_space.h"
#include "tuner/templates/launches/launches.h"

namespace attune::cost_model {
namespace {

// Of an NVIDIA H200.
target::Target large_device() {
  target::Target target;
  target.threads = 1;
  target.vector_bytes = 16;
  target.vector_registers = 1 << 16;
  target.launch = {.multiprocessors = 132,
                   .warp = 32,
                   .threads_per_block = 1024,
                   .shared_bytes = 227 << 10,
                   .register_bytes = 1020,
                   .resident_threads = 2048,
                   .resident_blocks = 32,
                   .resident_shared_bytes = 228 << 10,
                   .resident_register_bytes = 256 << 10,
                   .ghz = 1.98,
                   .fmas_per_cycle = 128,
                   .l2_bandwidth = 8700,
                   .dram_bandwidth = 4600,
                   .l2_bytes = 50 << 20,
                   .global_latency_ns = 600,
                   .barrier_ns = 20,
                   .launch_us = 1};
  return target;
}

struct Layer {
  const char* name;
  std::int64_t size, ic, oc, kernel, stride;
};
constexpr Layer kLayers[] = {
    {"C1", 224, 3, 64, 7, 2},    {"C2", 56, 64, 64, 3, 1},    {"C3", 56, 64, 64, 1, 1},
    {"C4", 56, 64, 128, 3, 2},   {"C5", 56, 64, 128, 1, 2},   {"C6", 28, 128, 128, 3, 1},
    {"C7", 28, 128, 256, 3, 2},  {"C8", 28, 128, 256, 1, 2},  {"C9", 14, 256, 256, 3, 1},
    {"C10", 14, 256, 512, 3, 2}, {"C11", 14, 256, 512, 1, 2}, {"C12", 7, 512, 512, 3, 1}};

ir::Program convolution(const Layer& layer) {
  ops::Conv2dOptions options;
  options.ic = layer.ic;
  options.oc = layer.oc;
  options.h = options.w = {.size = layer.size,
                           .kernel = layer.kernel,
                           .stride = layer.stride,
                           .pad_before = layer.kernel / 2,
                           .pad_after = layer.kernel / 2,
                           .dilation = 1};
  options.block = 4;
  return ops::build_conv2d_gemm(options).value();
}

// The launch that multiplies.
LaunchWork heaviest(const space::Scheduled& scheduled, const target::Target& target) {
  LaunchWork found;
  for (LaunchWork& work : launch_works(scheduled.state, scheduled.bounds, target.launch)) {
    if (!work.ahead && work.block.instructions > found.block.instructions) found = work;
  }
  return found;
}

TEST(LaunchModel, DefaultsFillALargeDevice) {
  const target::Target target = large_device();
  const LaunchModel model(target);
  for (const Layer& layer : kLayers) {
    const space::TemplateSpace space({{"gemm", convolution(layer)}}, templates::launches(), target);
    const auto predicted = fastest_predicted(space, model, 1);
    ASSERT_FALSE(predicted.empty()) << layer.name;
    const auto scheduled = space.schedule_of(predicted.front().point);
    const LaunchWork work = heaviest(*scheduled, target);
    const LaunchCost cost = launch_cost(work, target.launch);
    fmt::print(
        "{:4} {:6.2f} us, {} blocks of {} threads, {} KB: compute {:.2f} shared {:.2f} l2 "
        "{:.2f} wait {:.2f}; {}\n",
        layer.name, predicted.front().us, work.shape.block_count(), work.shape.thread_count(),
        work.shape.shared_bytes >> 10, cost.compute_us, cost.shared_us, cost.l2_us, cost.wait_us,
        space.to_string(predicted.front().point));
    if (layer.kernel == 1) continue;
    EXPECT_GE(work.shape.block_count(), 90) << layer.name;
    EXPECT_LE(work.shape.block_count(), 400) << layer.name;
  }
}

// Layers of few positions share their sums out.
TEST(LaunchModel, SmallLayersShareTheirSums) {
  const target::Target target = large_device();
  const LaunchModel model(target);
  for (const Layer& layer : kLayers) {
    if (layer.size > 28 || layer.ic < 128) continue;
    const space::TemplateSpace space({{"gemm", convolution(layer)}}, templates::launches(), target);
    const auto predicted = fastest_predicted(space, model, 1);
    const std::string text = space.to_string(predicted.front().point);
    const bool shares = text.find("groups=1 splits=1 ") == std::string::npos;
    EXPECT_TRUE(shares) << layer.name << " " << text;
  }
}

// Products of a few rows have little to share out but their sums.
TEST(LaunchModel, SkinnyProductsShareTheirSums) {
  const target::Target target = large_device();
  const LaunchModel model(target);
  for (const std::int64_t rows : {1, 16}) {
    const ir::Program program = ops::build_dense({.m = rows, .n = 1024, .k = 1024}).value();
    const space::TemplateSpace space({{"direct", program}}, templates::launches(), target);
    const auto predicted = fastest_predicted(space, model, 1);
    const std::string text = space.to_string(predicted.front().point);
    fmt::print("{} rows: {:.2f} us, {}\n", rows, predicted.front().us, text);
    EXPECT_EQ(text.find("groups=1 splits=1 "), std::string::npos) << text;
    EXPECT_LT(predicted.front().us, 8);
  }
}

// What is fetched ahead is not waited for, and takes memory for each slab that is on its way. Slabs
// of whole windows are found with fewer instructions than others.
TEST(LaunchModel, FetchingAheadHidesLatency) {
  const target::Target target = large_device();
  const space::TemplateSpace space({{"gemm", convolution(kLayers[1])}}, templates::launches(),
                                   target);
  const auto work = [&](const std::string& config) {
    const auto choices = space::parse_config(space.knobs(0), config);
    EXPECT_TRUE(choices.ok()) << config;
    const auto scheduled = space.schedule_of({0, *choices});
    EXPECT_TRUE(scheduled.ok()) << scheduled.error().message;
    return scheduled.ok() ? heaviest(*scheduled, target) : LaunchWork{};
  };
  const std::string tile = "rows=8x7 columns=8x1 ", end = " held=1";
  const LaunchWork plain = work(tile + "slab=4 groups=4 splits=1 staged=3 buffers=1" + end);
  const LaunchWork ahead = work(tile + "slab=4 groups=4 splits=1 staged=3 buffers=3" + end);
  const LaunchWork windows = work(tile + "slab=9 groups=4 splits=1 staged=3 buffers=3" + end);
  EXPECT_LT(launch_cost(ahead, target.launch).us, launch_cost(plain, target.launch).us);
  EXPECT_LT(windows.block.instructions, ahead.block.instructions);
  // The sums of the groups lie where operands did, once there is room for them.
  EXPECT_EQ(ahead.shape.shared_bytes, 3 * 4 * 16 * (56 + 32) * 4);
  EXPECT_LT(plain.shape.shared_bytes, 4 * 16 * (56 + 32) * 4 + 4 * 57 * 32 * 4);
}

// A product that is cut into more blocks than one is faster, and so is one whose operands lie in
// shared memory.
TEST(LaunchModel, RewardsWhatDevicesReward) {
  const target::Target target = large_device();
  const LaunchModel model(target);
  const ir::Program program = ops::build_matmul({.m = 512, .n = 512, .k = 512}).value();
  const space::TemplateSpace space({{"direct", program}}, templates::launches(), target);
  const auto us = [&](const std::string& config) {
    const auto choices = space::parse_config(space.knobs(0), config);
    EXPECT_TRUE(choices.ok()) << config;
    const auto scheduled = space.schedule_of({0, *choices});
    EXPECT_TRUE(scheduled.ok()) << scheduled.error().message;
    return scheduled.ok() ? model.predict_us(*scheduled) : 0;
  };
  const double good =
      us("rows=8x4 columns=8x4 slab=16 groups=4 splits=1 staged=3 buffers=1 held=1 turned=0");
  EXPECT_LT(
      good,
      us("rows=8x4 columns=8x4 slab=16 groups=4 splits=1 staged=0 buffers=1 held=1 turned=0"));
  EXPECT_LT(
      good,
      us("rows=8x1 columns=8x1 slab=16 groups=4 splits=1 staged=3 buffers=1 held=1 turned=0"));
  EXPECT_LT(
      good,
      us("rows=8x8 columns=8x8 slab=16 groups=1 splits=1 staged=3 buffers=1 held=1 turned=0"));
}

}  // namespace
}  // namespace attune::cost_model

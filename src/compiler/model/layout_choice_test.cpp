#include "compiler/model/layout_choice.h"

#include <gtest/gtest.h>

#include "compiler/graph/builder.h"
#include "targets/kinds.h"

namespace attune::model {
namespace {

using graph::Builder;
using graph::ValueId;
using Ints = std::vector<std::int64_t>;

ValueId conv(Builder& builder, ValueId data, std::int64_t channels, std::int64_t kernel) {
  const ValueId weight = builder.constant(
      ops::filled_constant({ir::kF32, {channels, builder.shape(data)[1], kernel, kernel}, {}}, 1));
  return *builder.add("conv", {data, weight},
                      {{"kernel_shape", Ints{kernel, kernel}},
                       {"strides", Ints{1, 1}},
                       {"pads", Ints(4, kernel / 2)},
                       {"dilations", Ints{1, 1}},
                       {"group", std::int64_t{1}}});
}

// Two convolutions of one tap by 24 channels, which fill blocks of 8 but not of 16, and one of nine
// taps by 64.
struct Sample {
  Sample() {
    Builder builder("three");
    const ValueId x = builder.input("x", {ir::kF32, {1, 16, 32, 32}, {}});
    first = conv(builder, x, 24, 1);
    second = conv(builder, first, 64, 1);
    third = conv(builder, second, 64, 3);
    graph = std::move(builder).finish({third});
    options.target.threads = 2;
    options.target.vector_bytes = 64;
    options.target.vector_registers = 32;
  }

  // Convolutions of one tap take 100 us, 90 in narrow blocks; the third takes 100, narrow 130.
  std::optional<double> measured_us(const graph::Task& task) const {
    const ir::Stage* anchor = task.op.program.find_stage("anchor");
    if (!anchor) return moving_us;
    const bool narrow = task.op.program.outputs[0]->shape.back() == 8;
    for (const ir::Axis& axis : anchor->reduce_axes) {
      if (axis.name == "kh" && axis.extent == 3) return narrow ? 130 : 100;
    }
    return narrow ? 90 : 100;
  }

  std::map<ValueId, std::int64_t> narrow_blocks() {
    options.choose = [&](const graph::Task& task) {
      Schedule schedule = default_schedule(task, options.target, {"direct"});
      schedule.measured_us = measured_us(task);
      return schedule;
    };
    options.before_layouts = [&](const std::vector<graph::Task>& tasks) -> Status {
      for (const graph::Task& task : tasks) moves += task.op.program.find_stage("anchor") ? 0 : 1;
      convolutions = static_cast<int>(tasks.size()) - moves;
      return {};
    };
    return choose_layouts(graph, options).value().own;
  }

  graph::Graph graph;
  ValueId first, second, third;
  CompileOptions options;
  std::optional<double> moving_us;  // from the second to the third
  int moves = 0, convolutions = 0;  // that are announced to be measured
};

using Blocks = std::map<ValueId, std::int64_t>;

TEST(ChooseLayouts, NarrowBlocksWhereWhatTheyGainIsMoreThanMovingTakes) {
  Sample cheap;
  cheap.moving_us = 15;
  EXPECT_EQ(cheap.narrow_blocks(), (Blocks{{cheap.first, 8}, {cheap.second, 8}}));
  EXPECT_EQ(cheap.moves, 1) << "one speed holds for all";
  EXPECT_EQ(cheap.convolutions, 6) << "each in both layouts";
  Sample dear;
  dear.moving_us = 25;
  EXPECT_EQ(dear.narrow_blocks(), Blocks{});
}

// The half megabyte takes 16 us at the usual speed of two cores.
TEST(ChooseLayouts, WithoutMeasurementsTheUsualSpeedCounts) {
  Sample sample;
  EXPECT_EQ(sample.narrow_blocks(), (Blocks{{sample.first, 8}, {sample.second, 8}}));
  Sample slow;
  slow.options.target.threads = 1;
  EXPECT_EQ(slow.narrow_blocks(), Blocks{});
}

// Channels are cut where every target's blocks end.
TEST(ChooseLayouts, NoTargetHasWiderBlocksThanLayoutsKnow) {
  std::int64_t widest = 0;
  for (const char* text :
       {"cpu -triple=x86_64-linux-gnu -mcpu=znver4", "cpu -triple=x86_64-linux-gnu -mcpu=haswell",
        "cpu -triple=aarch64-linux-gnu -mcpu=neoverse-n1", "sim", "cuda -arch=sm_90a"}) {
    const target::Target target = targets::resolve(targets::parse(text).value()).value();
    for (const int element_bytes : {2, 4}) {
      const std::int64_t block = target.channel_block(element_bytes);
      EXPECT_EQ(graph::kWidestBlock % block, 0) << text << " has blocks of " << block;
      widest = std::max(widest, block);
    }
  }
  EXPECT_EQ(widest, graph::kWidestBlock);
}

}  // namespace
}  // namespace attune::model

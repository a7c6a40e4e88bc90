// Windows, rows, moves and all else on blocks and threads: random points compute what the program
// says, and every program gets the template that is meant for it.
#include <gtest/gtest.h>

#include "compiler/ops/algorithms/winograd.h"
#include "compiler/ops/forms/conv2d.h"
#include "compiler/ops/forms/depthwise.h"
#include "compiler/ops/forms/elementwise.h"
#include "compiler/ops/forms/layernorm.h"
#include "compiler/ops/forms/pool.h"
#include "compiler/ops/forms/reduce.h"
#include "compiler/ops/forms/softmax.h"
#include "compiler/ops/forms/transpose.h"
#include "tuner/templates/launches/launched_testing.h"

namespace attune::templates {
namespace {

ops::Window window(std::int64_t size, std::int64_t kernel, std::int64_t stride) {
  return {.size = size,
          .kernel = kernel,
          .stride = stride,
          .pad_before = kernel / 2,
          .pad_after = kernel / 2,
          .dilation = 1};
}

std::string_view template_of(const ir::Program& program) {
  space::Findings findings;
  for (const space::Template& each : launches()) {
    if (each.fits_on({program, findings}, launch_target())) return each.name;
  }
  return "none";
}

ir::Program depthwise(std::int64_t size, std::int64_t channels, std::int64_t stride) {
  ops::DepthwiseOptions options;
  options.c = channels;
  options.h = options.w = window(size, 3, stride);
  options.block = 4;
  return ops::build_depthwise(options).value();
}

TEST(LaunchFamilies, Windows) {
  EXPECT_EQ(template_of(depthwise(9, 8, 1)), "windows");
  expect_right(depthwise(9, 8, 1), "depthwise", 12, 1);
  expect_right(depthwise(7, 10, 2), "depthwise stride 2", 12, 2);
  for (const auto kind : {ops::PoolKind::Max, ops::PoolKind::Average}) {
    ops::PoolOptions options;
    options.kind = kind;
    options.c = 8;
    options.h = options.w = window(9, 3, 2);
    options.block = 4;
    expect_right(ops::build_pool(options).value(), "pool", 12, 3);
  }
}

// Weights are read as vectors of channels, pixels once each.
TEST(LaunchFamilies, WindowsReadFirst) {
  const schedule::Trace trace =
      space::default_trace(launch_windows(), depthwise(9, 8, 1), launch_target());
  const std::string text = schedule::to_string(trace);
  for (const char* step : {"layout filter c/4 kh kw c%4", "set_scope pad register",
                           "vectorize pad cb", "vectorize anchor cb"}) {
    EXPECT_NE(text.find(step), std::string::npos) << step << " in\n" << text;
  }
}

TEST(LaunchFamilies, Rows) {
  const ir::Program softmax = ops::build_softmax({.m = 7, .n = 50}).value();
  EXPECT_EQ(template_of(softmax), "rows");
  expect_right(softmax, "softmax", 12, 1);
  const ir::Program layernorm = ops::build_layernorm({.m = 5, .n = 64}).value();
  EXPECT_EQ(template_of(layernorm), "rows");
  expect_right(layernorm, "layernorm", 12, 2);
  for (const auto op : {ops::ReduceOp::Sum, ops::ReduceOp::Max, ops::ReduceOp::ArgMax}) {
    ops::ReduceOptions options;
    options.op = op;
    options.m = 6;
    options.n = 70;
    expect_right(ops::build_reduce(options).value(), "reduce", 10, 3);
  }
}

// Every block has its own rows, however many there are.
TEST(LaunchFamilies, ManyRowsAreOneLaunch) {
  for (const ir::Program& program : {ops::build_softmax({.m = 300, .n = 64}).value(),
                                     ops::build_layernorm({.m = 300, .n = 64}).value()}) {
    const schedule::Trace trace = space::default_trace(launch_rows(), program, launch_target());
    const auto state = schedule::replay(program, trace);
    ASSERT_TRUE(state.ok()) << state.error().message;
    for (const auto& stage : state->stages) {
      EXPECT_EQ(stage->at_root(), stage->stage.name == "output") << schedule::to_string(trace);
    }
  }
}

TEST(LaunchFamilies, Moves) {
  for (const std::int64_t columns : {36, 21}) {
    const ir::Program transpose =
        ops::build_transpose({.shape = {2, 45, columns}, .perm = {0, 2, 1}}).value();
    EXPECT_EQ(template_of(transpose), "moves");
    expect_right(transpose, "transpose", 12, 1);
  }
  ops::ElementwiseOptions options;
  options.m = 13;
  options.n = 24;
  options.chain = ops::parse_chain("add+relu").value();
  expect_right(ops::build_elementwise(options).value(), "elementwise", 12, 2);
}

TEST(LaunchFamilies, Reductions) {
  for (const bool few : {true, false}) {
    ir::Program program{"columns", {}, {}, {}};
    const std::int64_t columns = few ? 3 : 20;
    const ir::Buffer data = ir::add_input(program, "data", ir::kF32, {2, 150, columns});
    const ir::Buffer sum = ir::add_reduce(
        program, "anchor", {{"b", 2}, {"c", columns}}, {{"r", 150}}, ir::Reduction::Sum,
        ir::load(data, {ir::var("b"), ir::var("r"), ir::var("c")}));
    program.outputs = {
        ir::add_compute(program, "output", {{"b", 2}, {"c", columns}},
                        ir::load(sum, {ir::var("b"), ir::var("c")}) * ir::float_imm(0.5))};
    expect_right(program, "columns", 8, few ? 1 : 2);
  }
  ir::Program whole{"whole", {}, {}, {}};
  const ir::Buffer data = ir::add_input(whole, "data", ir::kF32, {13, 50});
  whole.outputs = {ir::add_reduce(whole, "anchor", {}, {{"r", 13}, {"s", 50}}, ir::Reduction::Max,
                                  ir::load(data, {ir::var("r"), ir::var("s")}))};
  EXPECT_EQ(template_of(whole), "reductions");
  expect_right(whole, "whole", 8, 3);
}

TEST(LaunchFamilies, AllElse) {
  ops::Conv2dOptions options;
  options.ic = options.oc = 8;
  options.h = options.w = window(8, 3, 1);
  options.block = 4;
  expect_right(ops::build_conv2d(options).value(), "direct convolution", 8, 1);
  expect_right(ops::build_winograd(options, 2).value(), "winograd", 4, 2);
  options.groups = 2;
  expect_right(ops::build_conv2d(options).value(), "grouped convolution", 8, 3);
}

}  // namespace
}  // namespace attune::templates

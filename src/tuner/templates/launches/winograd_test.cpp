// Winograd on blocks and threads: random points of all sizes of tiles compute what the program
// says, with any image and channels, and what the template promises of its schedules.
#include <gtest/gtest.h>

#include "compiler/ops/algorithms/winograd.h"
#include "compiler/ops/algorithms/winograd_transpose.h"
#include "tuner/templates/launches/launched_testing.h"

namespace attune::templates {
namespace {

ops::Conv2dOptions convolution(std::int64_t h, std::int64_t w, std::int64_t ic, std::int64_t oc) {
  const auto window = [](std::int64_t size) {
    return ops::Window{
        .size = size, .kernel = 3, .stride = 1, .pad_before = 1, .pad_after = 1, .dilation = 1};
  };
  ops::Conv2dOptions options;
  options.ic = ic;
  options.oc = oc;
  options.h = window(h);
  options.w = window(w);
  options.block = 4;
  return options;
}

TEST(LaunchWinograd, TilesOfAnySize) {
  expect_right(ops::build_winograd(convolution(7, 9, 8, 12), 2).value(), "winograd2", 8, 1);
  expect_right(ops::build_winograd(convolution(9, 6, 12, 8), 4).value(), "winograd4", 6, 2);
  expect_right(ops::build_winograd(convolution(8, 8, 5, 6), 6).value(), "winograd6", 3, 3);
}

TEST(LaunchWinograd, ImagesBordersAndStrides) {
  ops::Conv2dOptions options = convolution(6, 5, 8, 8);
  options.n = 2;
  expect_right(ops::build_winograd(options, 2).value(), "two images", 4, 1);
  options = convolution(8, 8, 8, 8);
  options.h.pad_before = options.h.pad_after = options.w.pad_before = options.w.pad_after = 0;
  expect_right(ops::build_winograd(options, 2).value(), "no border", 4, 2);
  options = convolution(10, 10, 8, 8);
  options.h.stride = options.w.stride = 2;
  options.h.kernel = options.w.kernel = 4;
  ASSERT_TRUE(ops::winograd_applies(options, 2));
  expect_right(ops::build_winograd(options, 2).value(), "stride 2", 4, 3);
}

TEST(LaunchWinograd, TransposedConvolutions) {
  ops::Conv2dTransposeOptions options;
  options.ic = 8;
  options.oc = 8;
  options.h = options.w = {
      .size = 5, .kernel = 4, .stride = 2, .pad_before = 1, .pad_after = 1, .dilation = 1};
  options.block = 4;
  ASSERT_TRUE(ops::winograd_transpose_applies(options, 2));
  expect_right(ops::build_winograd_transpose(options, 2).value(), "transposed", 4, 1);
}

// Two transforms whose tiles lie in registers, and the products between them.
TEST(LaunchWinograd, IsThreeLaunches) {
  const ir::Program program = ops::build_winograd(convolution(14, 14, 16, 16), 4).value();
  const schedule::Trace trace = space::default_trace(launch_winograd(), program, launch_target());
  const std::string text = schedule::to_string(trace);
  for (const char* step :
       {"set_scope input.rows register", "set_scope pad register", "set_scope output.rows register",
        "inline output.wino", "compute_at cache.input.wino"}) {
    EXPECT_NE(text.find(step), std::string::npos) << step << " in\n" << text;
  }
  const auto state = schedule::replay(program, trace);
  ASSERT_TRUE(state.ok()) << state.error().message;
  std::vector<std::string> roots;
  for (const auto& stage : state->stages) {
    if (stage->at_root() && !stage->stage.name.starts_with("filter")) {
      roots.push_back(stage->stage.name);
    }
  }
  EXPECT_EQ(roots, (std::vector<std::string>{"input.wino", "anchor", "output"})) << text;
}

}  // namespace
}  // namespace attune::templates

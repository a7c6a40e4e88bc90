// Products on blocks and threads: random tiles of random shapes compute what the program says, and
// what a template promises of its schedules.
#include <gtest/gtest.h>

#include "compiler/ops/algorithms/conv2d_gemm.h"
#include "compiler/ops/forms/matmul.h"
#include "tuner/templates/launches/launched_testing.h"
#include "tuner/templates/launches/product_facts.h"

namespace attune::templates {
namespace {

ir::Program convolution(std::int64_t size, std::int64_t ic, std::int64_t oc, std::int64_t kernel,
                        std::int64_t stride) {
  ops::Conv2dOptions options;
  options.ic = ic;
  options.oc = oc;
  options.h = options.w = {.size = size,
                           .kernel = kernel,
                           .stride = stride,
                           .pad_before = kernel / 2,
                           .pad_after = kernel / 2,
                           .dilation = 1};
  options.block = 4;
  return ops::build_conv2d_gemm(options).value();
}

TEST(LaunchProducts, MatricesOfAnyShape) {
  Rng rng(11);
  for (int i = 0; i < 6; ++i) {
    const ops::MatmulOptions options{.m = rng.between(1, 40),
                                     .n = rng.between(1, 12) * (i % 2 == 0 ? 4 : 3),
                                     .k = rng.between(1, 10) * (i % 3 == 0 ? 4 : 5)};
    expect_right(ops::build_matmul(options).value(), "matmul", 12, 100 + static_cast<unsigned>(i));
    expect_right(ops::build_dense(options).value(), "dense", 12, 200 + static_cast<unsigned>(i));
  }
  expect_right(ops::build_batch_matmul(3, {.m = 9, .n = 16, .k = 12}).value(), "batch", 12, 5);
}

TEST(LaunchProducts, ConvolutionsOverColumns) {
  expect_right(convolution(7, 8, 12, 3, 1), "3x3", 16, 1);
  expect_right(convolution(9, 8, 8, 3, 2), "3x3 stride 2", 16, 2);
  expect_right(convolution(6, 12, 8, 1, 1), "1x1", 16, 3);
  expect_right(convolution(9, 3, 8, 3, 2), "plain input", 16, 4);
}

TEST(LaunchProducts, SeesAConvolutionAsAProduct) {
  const ir::Program program = convolution(14, 256, 256, 3, 1);
  const auto facts = main_product(program);
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->m_tile, "p");
  EXPECT_EQ(facts->n_tile, "oc");
  EXPECT_EQ(facts->n_lane, "ob");
  EXPECT_EQ(facts->k_tile, "r");
  EXPECT_EQ(facts->k_lane, "ib");
  const auto read =
      axes_read_at(*program.find_stage("output"), program.find_stage("anchor")->outputs[0]);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ((*read)[2], (schedule::Names{"oh", "ow"}));
}

TEST(LaunchProducts, TheDefaultGoesThroughSharedMemory) {
  const ir::Program program = convolution(14, 64, 64, 3, 1);
  const std::string trace =
      schedule::to_string(space::default_trace(launch_products(), program, launch_target()));
  for (const char* step : {"set_scope columns shared", "set_scope cache.filter.gemm shared",
                           "vectorize columns ib", "block.x", "thread.x"}) {
    EXPECT_NE(trace.find(step), std::string::npos) << step << " in\n" << trace;
  }
}

// Groups add up in shared memory, blocks in a second launch.
TEST(LaunchProducts, SumsAreSharedOutTwice) {
  const ir::Program program = convolution(7, 16, 16, 3, 1);
  const space::TemplateSpace space({{"gemm", program}}, launches(), launch_target());
  const auto choices = space::parse_config(
      space.knobs(0), "rows=4x7 columns=4x1 slab=2 groups=4 splits=3 staged=3 held=1");
  ASSERT_TRUE(choices.ok()) << choices.error().message;
  const space::Point point{0, *choices};
  ASSERT_TRUE(space.schedule_of(point).ok()) << space.schedule_of(point).error().message;
  schedule::Trace trace = space.trace_of(point);
  const std::string text = schedule::to_string(trace);
  for (const char* step :
       {"rfactor anchor r.0", "bind rf.cache.rf.anchor r_1_1 thread.z",
        "set_scope rf.cache.rf.anchor shared", "set_scope cache.rf.cache.rf.anchor register",
        "set_scope anchor register", "vectorize output ob"}) {
    EXPECT_NE(text.find(step), std::string::npos) << step << " in\n" << text;
  }
  trace.erase(trace.begin());  // the algorithm, which the program is
  EXPECT_EQ(Launched(program).check(trace), "");
}

}  // namespace
}  // namespace attune::templates

// Products on blocks and threads: random tiles of random shapes compute what the program says, and
// what a template promises of its schedules.
#include <gtest/gtest.h>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/text/parse.h"
#include "compiler/ops/algorithms/conv2d_gemm.h"
#include "compiler/ops/algorithms/transpose_gemm.h"
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

ir::Program transposed(std::int64_t size, std::int64_t ic, std::int64_t oc, std::int64_t kernel,
                       std::int64_t stride, std::int64_t output_pad = 0) {
  ops::Conv2dTransposeOptions options;
  options.ic = ic;
  options.oc = oc;
  options.block = 4;
  options.h = options.w = {.size = size,
                           .kernel = kernel,
                           .stride = stride,
                           .pad_before = stride / 2,
                           .pad_after = stride / 2,
                           .dilation = 1};
  options.output_pad_h = options.output_pad_w = output_pad;
  return ops::build_transpose_gemm(options).value();
}

TEST(LaunchProducts, TransposedConvolutionsByPhases) {
  expect_right(transposed(5, 8, 12, 4, 2), "even", 16, 1);
  expect_right(transposed(4, 12, 5, 3, 2, 1), "odd kernel", 12, 2);
  expect_right(transposed(3, 8, 8, 5, 3), "stride 3", 12, 3);
  expect_right(transposed(1, 8, 12, 4, 1), "one pixel", 12, 4);
  expect_right(transposed(4, 8, 8, 3, 2), "odd output", 8, 5);
}

TEST(LaunchProducts, SeesAConvolutionAsAProduct) {
  const ir::Program program = convolution(14, 256, 256, 3, 1);
  space::Findings findings;
  const auto facts = main_product({program, findings});
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->m_tile, "p");
  EXPECT_EQ(facts->n_tile, "oc");
  EXPECT_EQ(facts->n_lane, "ob");
  EXPECT_EQ(facts->k_tile, "r");
  EXPECT_EQ(facts->k_lane, "ib");
  EXPECT_EQ(facts->turns, (std::vector<std::int64_t>{3, 9}));
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
      space.knobs(0), "rows=4x7 columns=4x1 slab=2 groups=4 splits=3 staged=3 buffers=1 held=1");
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

schedule::Trace trace_of(const ir::Program& program, const std::string& config) {
  const space::TemplateSpace space({{"direct", program}}, launches(), launch_target());
  const auto choices = space::parse_config(space.knobs(0), config);
  EXPECT_TRUE(choices.ok()) << choices.error().message;
  if (!choices.ok()) return {};
  const auto scheduled = space.schedule_of({0, *choices});
  EXPECT_TRUE(scheduled.ok()) << scheduled.error().message;
  return space.trace_of({0, *choices});
}

ir::Kernel lowered(const ir::Program& program, const schedule::Trace& trace) {
  const auto state = schedule::replay(program, trace);
  EXPECT_TRUE(state.ok()) << state.error().message;
  lower::Options options;
  options.pipeline = lower::launch_pipeline();
  const auto kernels = lower::lower(*state, options);
  EXPECT_TRUE(kernels.ok()) << kernels.error().message;
  return kernels->main;
}

// Stores of products to registers, those under conditions alone or all.
int products_in(const ir::Stmt& s, bool conditional, bool inside = false) {
  int found = 0;
  if (const auto* store = ir::as<ir::Store>(s)) {
    bool multiplies = false;
    ir::visit(store->value, [&](const ir::Expr& e) {
      const auto* x = ir::as<ir::Binary>(e);
      multiplies |= x && x->op == ir::BinOp::Mul && e.type().is_float();
    });
    const bool kept = store->buffer->scope == ir::Scope::Register;
    found += multiplies && kept && (inside || !conditional);
  }
  const bool within = inside || ir::as<ir::If>(s) != nullptr;
  ir::map_children(
      s,
      [&](const ir::Stmt& child) {
        found += products_in(child, conditional, within);
        return child;
      },
      [](const ir::Expr& e) { return e; });
  return found;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// A row whose number is written as 0, and columns that are parts of a few, as recurrent cells have.
TEST(LaunchProducts, GatesOfACell) {
  const auto program = ir::parse_program(R"(program cell {
  input x: f32[1, 26]
  constant weight: f32[26, 72]
  stage filter(k: 26, g: 4, j: 18) = weight[k, g * 18 + j]
  stage anchor(i: 1, g: 4, j: 18) = sum(k: 26) x[0, k] * filter[k, g, j]
  stage 'output'(d0: 1, d1: 18) = tanh(anchor[0, 0, d1]) * anchor[0, 1, d1] + anchor[0, 2, d1] - anchor[0, 3, d1]
  output 'output'
}
)");
  ASSERT_TRUE(program.ok()) << program.error().message;
  space::Findings findings;
  const auto facts = main_product({*program, findings});
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->m, 1);
  EXPECT_EQ(facts->n_tile, "j");
  EXPECT_EQ(facts->others, 4);
  expect_right(*program, "cell", 16, 3);
}

// Slabs of whole windows are copied by 16 bytes, and whether a copy lies within the image does not
// depend on which slab it is.
TEST(LaunchProducts, SlabsOfWholeWindowsAreCopiedAhead) {
  const ir::Program program = convolution(8, 32, 16, 3, 1);
  const schedule::Trace trace =
      trace_of(program, "rows=4x4 columns=4x1 slab=9 groups=2 splits=1 staged=3 buffers=3 held=1");
  EXPECT_EQ(Launched(program).check(trace), "");
  const std::string text = ir::to_string(lowered(program, trace));
  EXPECT_GT(count(text, "async_copy"), 1u) << text;
  for (auto at = text.find("@async_copy("); at != std::string::npos;
       at = text.find("@async_copy(", at + 1)) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    EXPECT_NE(line.find(", 4, "), std::string::npos) << line;
  }
  EXPECT_EQ(text.find("/ 9"), std::string::npos) << text;
}

// Tiles that are not whole, along rows, columns and the sum, are filled with zeros, and multiplied
// like all others. Parts of a sum that other blocks have are still left out.
TEST(LaunchProducts, RaggedTilesAreMultipliedWithoutConditions) {
  const ir::Program program = ops::build_dense({.m = 39, .n = 44, .k = 134}).value();
  for (const char* staged : {"staged=3 buffers=1", "staged=3 buffers=3", "staged=0 buffers=1"}) {
    for (const char* groups : {"groups=1", "groups=2"}) {
      const schedule::Trace trace = trace_of(
          program, fmt::format("rows=4x4 columns=4x4 slab=4 {} splits=1 {} held=1 turned=0", groups,
                               staged));
      EXPECT_EQ(Launched(program).check(trace), "");
      const ir::Stmt body = lowered(program, trace).body;
      EXPECT_GT(products_in(body, false), 0);
      EXPECT_EQ(products_in(body, true), 0) << staged << " " << groups;
    }
  }
  const schedule::Trace split = trace_of(
      program, "rows=4x4 columns=4x4 slab=4 groups=2 splits=4 staged=3 buffers=2 held=1 turned=0");
  EXPECT_EQ(Launched(program).check(split), "");
  EXPECT_GT(products_in(lowered(program, split).body, true), 0);
}

// Rows of a plain matrix lie side by side in shared memory, and a thread reads four of them at
// once.
TEST(LaunchProducts, RowsMayBeTurned) {
  const ir::Program program = ops::build_dense({.m = 72, .n = 32, .k = 76}).value();
  for (const char* rest :
       {"groups=1 splits=1 staged=3 buffers=3", "groups=2 splits=1 staged=3 buffers=1",
        "groups=2 splits=2 staged=1 buffers=2"}) {
    const schedule::Trace trace =
        trace_of(program, fmt::format("rows=4x8 columns=4x4 slab=4 {} held=1 turned=1", rest));
    EXPECT_EQ(Launched(program).check(trace), "") << rest;
    const std::string text = schedule::to_string(trace);
    for (const char* step : {"layout cache.data i1 i0/4%2 i0/8 i0%4", "storage_gap cache.data 4",
                             "vectorize cache.cache.data i0.1"}) {
      EXPECT_NE(text.find(step), std::string::npos) << step << " in\n" << text;
    }
  }
}

// Threads that read at the same time read side by side; what is written side by side is kept apart
// by gaps where a thread's tile is as long as that.
TEST(LaunchProducts, TilesDoNotMeetInBanks) {
  const ir::Program program = convolution(16, 16, 32, 3, 1);
  const std::string rows = schedule::to_string(
      trace_of(program, "rows=8x8 columns=4x2 slab=4 groups=1 splits=1 staged=3 buffers=2 held=1"));
  EXPECT_NE(rows.find("layout columns r n p/72 p%8 p/8%9 ib"), std::string::npos) << rows;
  EXPECT_NE(rows.find("layout cache.filter.gemm r ib oc/4%2 oc/8 oc%4"), std::string::npos) << rows;
  const std::string odd = schedule::to_string(
      trace_of(program, "rows=8x7 columns=4x1 slab=4 groups=1 splits=1 staged=3 buffers=2 held=1"));
  EXPECT_NE(odd.find("layout columns r n p ib"), std::string::npos) << odd;
}

}  // namespace
}  // namespace attune::templates

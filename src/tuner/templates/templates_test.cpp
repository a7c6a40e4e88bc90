#include "tuner/templates/templates.h"

#include <gtest/gtest.h>

#include "compiler/ops/algorithms/conv2d_gemm.h"
#include "compiler/ops/algorithms/packed_transpose.h"
#include "compiler/ops/algorithms/winograd.h"
#include "compiler/ops/algorithms/winograd_transpose.h"
#include "compiler/ops/forms/conv2d.h"
#include "compiler/ops/forms/conv2d_transpose.h"
#include "compiler/ops/forms/depthwise.h"
#include "compiler/ops/forms/elementwise.h"
#include "compiler/ops/forms/layernorm.h"
#include "compiler/ops/forms/matmul.h"
#include "compiler/ops/forms/pool.h"
#include "compiler/ops/forms/reduce.h"
#include "compiler/ops/forms/softmax.h"
#include "compiler/ops/forms/transpose.h"
#include "compiler/schedule/bounds.h"
#include "tuner/space/template_space.h"
#include "tuner/space/trace_lookup.h"
#include "tuner/templates/fused_testing.h"

namespace attune::templates {
namespace {

target::Target target_with(int vector_bytes, int registers) {
  target::Target target;
  target.set("triple", "x86_64-pc-linux-gnu");
  target.set("mcpu", "haswell");
  target.threads = 2;
  target.vector_bytes = vector_bytes;
  target.vector_registers = registers;
  return target;
}

ops::Window window(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
  return {.size = size,
          .kernel = kernel,
          .stride = stride,
          .pad_before = pad,
          .pad_after = pad,
          .dilation = 1};
}

ir::Program conv2d_program(std::int64_t size, std::int64_t channels, std::int64_t kernel,
                           std::int64_t stride, std::int64_t block) {
  ops::Conv2dOptions options;
  options.ic = options.oc = channels;
  options.h = options.w = window(size, kernel, stride, kernel / 2);
  options.block = block;
  return ops::build_conv2d(options).value();
}

ir::Program depthwise_program(std::int64_t block) {
  ops::DepthwiseOptions options;
  options.c = 40;
  options.h = options.w = window(14, 3, 1, 1);
  options.block = block;
  return ops::build_depthwise(options).value();
}

ir::Program gemm_program(std::int64_t kernel, std::int64_t block) {
  ops::Conv2dOptions options;
  options.ic = 20;
  options.oc = 40;
  options.h = options.w = window(11, kernel, 1, kernel / 2);
  options.block = block;
  return ops::build_conv2d_gemm(options).value();
}

ir::Program folded_program(std::int64_t block) {
  ops::Conv2dOptions options;
  options.ic = 3;
  options.oc = 40;
  options.h = options.w = window(33, 7, 2, 3);
  options.block = block;
  return ops::build_winograd(options, 4).value();
}

ops::Conv2dTransposeOptions transposed(std::int64_t block, std::int64_t oc = 40) {
  ops::Conv2dTransposeOptions options;
  options.ic = 24;
  options.oc = oc;
  options.h = options.w = window(9, 4, 2, 1);
  options.block = block;
  return options;
}

// Two results of a product with parts, stacked: the product of all parts, and their sum.
ir::Program cell_program(std::int64_t rows, std::int64_t parts, std::int64_t columns,
                         std::int64_t k) {
  ir::Program program{"cell", {}, {}, {}};
  const ir::Buffer data = ir::add_input(program, "data", ir::kF32, {rows, k});
  const ir::Buffer weight = ir::add_input(program, "weight", ir::kF32, {k, parts * columns}, true);
  const std::vector<ir::Axis> packed{{"k", k}, {"g", parts}, {"j", columns}};
  const ir::Expr column = ir::var("g") * ir::Expr(columns) + ir::var("j");
  const ir::Buffer filter =
      ir::add_compute(program, "filter", packed, ir::load(weight, {ir::var("k"), column}));
  const ir::Buffer anchor =
      ir::add_reduce(program, "anchor", {{"i", rows}, {"g", parts}, {"j", columns}}, {{"k", k}},
                     ir::Reduction::Sum,
                     ir::load(data, {ir::var("i"), ir::var("k")}) *
                         ir::load(filter, {ir::var("k"), ir::var("g"), ir::var("j")}));
  const std::vector<ir::Axis> axes{{"s", 2}, {"i", rows}, {"j", columns}};
  ir::Expr sum = ir::load(anchor, {ir::var("i"), ir::Expr(0), ir::var("j")}), all = sum;
  for (std::int64_t g = 1; g < parts; ++g) {
    const ir::Expr part = ir::load(anchor, {ir::var("i"), ir::Expr(g), ir::var("j")});
    sum = sum + part, all = all * part;
  }
  const ir::Expr value = ir::select(ir::var("s") < ir::Expr(1), all, sum);
  program.outputs = {ir::add_compute(program, "output", axes, value)};
  return program;
}

// The mean of the rows of an image that lies in blocks of channels.
ir::Program blocked_mean(std::int64_t channels, std::int64_t block) {
  const ir::Axis c{"c", channels}, h{"h", 9}, w{"w", 30};
  ir::Program program{"mean", {}, {}, {}};
  const ir::Buffer data = ir::add_input(
      program, "data", ir::kF32, {(channels + block - 1) / block, h.extent, w.extent, block});
  const ir::Expr lane = ir::axis_var(c) % ir::Expr(block),
                 group = ir::axis_var(c) / ir::Expr(block);
  const ir::Buffer sum =
      ir::add_reduce(program, "anchor", {c, h}, {w}, ir::Reduction::Sum,
                     ir::load(data, {group, ir::axis_var(h), ir::axis_var(w), lane}));
  program.outputs = {
      ir::add_compute(program, "output", {c, h},
                      ir::load(sum, {ir::axis_var(c), ir::axis_var(h)}) * ir::float_imm(1.0 / 30))};
  return program;
}

// Every kind of program, with the name of the template that must take it.
std::vector<std::pair<std::string, ir::Program>> programs(std::int64_t block) {
  ops::PoolOptions pool;
  pool.c = 20;
  pool.h = pool.w = window(9, 2, 2, 0);
  pool.block = block;
  const ops::ElementwiseOptions chain{
      .m = 3, .n = 70, .chain = ops::parse_chain("bias+relu").value(), .dtype = ir::kF32};
  return {
      {"gemm", ops::build_matmul({.m = 1024, .n = 1024, .k = 1024}).value()},
      {"gemm", ops::build_matmul({.m = 1, .n = 1, .k = 1}).value()},
      {"gemm", ops::build_dense({.m = 17, .n = 1000, .k = 513}).value()},
      {"gemm", ops::build_dense({.m = 64, .n = 33, .k = 9000}).value()},
      {"gemm", ops::build_batch_matmul(3, {.m = 7, .n = 40, .k = 5}).value()},
      {"cell", cell_program(1, 4, 20, 150)},
      {"cell", cell_program(5, 3, 33, 513)},
      {"conv2d", conv2d_program(56, 64, 3, 1, block)},
      {"conv2d", conv2d_program(7, 512, 3, 1, block)},
      {"conv2d", conv2d_program(224, 3, 7, 2, block)},
      {"conv2d", conv2d_program(5, 9, 1, 2, block)},
      {"conv2d_transpose", ops::build_conv2d_transpose(transposed(block)).value()},
      {"winograd", folded_program(block)},
      {"winograd", ops::build_winograd_transpose(transposed(block), 2).value()},
      {"winograd", ops::build_winograd_transpose(transposed(block), 4).value()},
      {"winograd", ops::build_packed_transpose(transposed(block, block / 2), 4).value()},
      {"conv2d_gemm", gemm_program(3, block)},
      {"conv2d_gemm", gemm_program(1, block)},
      {"window", depthwise_program(block)},
      {"window", ops::build_pool(pool).value()},
      {"rows", ops::build_softmax({.m = 5, .n = 1000}).value()},
      {"rows", ops::build_softmax({.m = 1, .n = 1}).value()},
      {"rows", ops::build_softmax({.m = 40, .n = 3}).value()},
      {"rows", ops::build_layernorm({.m = 3, .n = 77}).value()},
      {"rows", ops::build_reduce({.m = 4, .n = 100}).value()},
      {"elementwise", blocked_mean(2 * block + 3, block)},
      {"elementwise", ops::build_elementwise(chain).value()},
      {"elementwise", ops::build_transpose({.shape = {3, 40, 50}, .perm = {0, 2, 1}}).value()},
  };
}

TEST(Templates, EveryProgramHasItsOwn) {
  for (const auto& [name, program] : programs(8)) {
    EXPECT_EQ(template_for(program).name, name) << program.name;
  }
}

// What a graph fuses around an operator does not change which template takes it, nor where the
// anchor is computed: within the loops of the output, in registers.
TEST(Templates, TakeFusedPrograms) {
  const target::Target target = target_with(32, 16);
  for (const auto& [name, program] : programs(8)) {
    const ir::Program fused = with_prologue(with_epilogue(program, {.scale = true}));
    EXPECT_EQ(template_for(fused).name, name) << program.name;
    const auto state = schedule::replay(fused, default_trace(fused, target));
    ASSERT_TRUE(state.ok()) << name << ": " << state.error().message;
    for (const auto& stage : state->stages) {
      EXPECT_FALSE(stage->stage.name.starts_with("epilogue.")) << name << " " << stage->stage.name;
    }
    const int anchor = state->find("anchor");
    if (anchor < 0) continue;
    const bool copied = state->find("cache.anchor") >= 0;  // from registers into a buffer
    EXPECT_FALSE(state->stages[copied ? state->find("cache.anchor") : anchor]->at_root()) << name;
  }
}

// A value that is long and used often is computed once per tile instead of being inlined.
TEST(Templates, ComputeLongEpiloguesOnce) {
  ir::Program program = conv2d_program(14, 16, 3, 1, 8);
  ir::Stage last = program.stages.back();
  program.stages.pop_back();
  const std::vector<ir::Expr> index = ops::index_of(last.axes);
  ir::Expr value = last.values[0];
  for (int i = 0; i < 12; ++i) {
    const std::string name = "epilogue." + std::to_string(i);
    value = ir::load(ir::add_compute(program, name, last.axes, value), index);
    value = value * ir::max(value, value + value);
  }
  program.outputs = {ir::add_compute(program, "output", last.axes, value)};
  const target::Target target = target_with(32, 16);
  EXPECT_EQ(template_for(program).name, "conv2d");
  const auto state = schedule::replay(program, default_trace(program, target));
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_GT(state->stages.size(), 4u);
  for (const auto& stage : state->stages) {
    if (!stage->stage.name.starts_with("epilogue.")) continue;
    EXPECT_EQ(stage->at_stage, "output");
  }
}

TEST(Templates, DefaultsAreLegalForEveryVectorWidth) {
  for (const int bytes : {16, 32, 64}) {
    const target::Target target = target_with(bytes, bytes == 64 ? 32 : 16);
    for (const auto& [name, program] : programs(target.lanes(4))) {
      const schedule::Trace trace = default_trace(program, target);
      const auto state = schedule::replay(program, trace);
      ASSERT_TRUE(state.ok()) << name << ": " << state.error().message;
      const auto bounds = schedule::infer_bounds(*state, schedule::Mins::Leave);
      EXPECT_TRUE(bounds.ok()) << name << ": " << bounds.error().message;
    }
  }
}

// Where starting threads takes longer than they save, one thread computes a step of a cell.
TEST(Templates, ThreadsShareCellsThatAreLargeEnough) {
  target::Target target = target_with(32, 16);
  const auto loops_of = [&](std::int64_t rows, std::int64_t columns, std::int64_t k) {
    return schedule::to_string(default_trace(cell_program(rows, 4, columns, k), target));
  };
  const auto is_shared = [&](std::int64_t columns) {
    return loops_of(1, columns, columns).find("parallel output") != std::string::npos;
  };
  target.machine.fork_join_us = 0.2;
  EXPECT_FALSE(is_shared(24));
  EXPECT_TRUE(is_shared(512));
  // Rows are shared where there are enough.
  EXPECT_NE(loops_of(1, 64, 512).find("parallel output j.0"), std::string::npos);
  EXPECT_NE(loops_of(8, 64, 512).find("parallel output i.0"), std::string::npos);
  target.machine.fork_join_us = 200;
  EXPECT_FALSE(is_shared(512));
  target.machine.cores = 1001;  // of which two are started
  EXPECT_TRUE(is_shared(512));
}

TEST(Templates, AreTheSameEveryTime) {
  const target::Target target = target_with(32, 16);
  for (const auto& [name, program] : programs(8)) {
    EXPECT_EQ(schedule::hash(default_trace(program, target)),
              schedule::hash(default_trace(program, target)))
        << name;
  }
}

// A point is rejected in a few words, or its steps are legal.
TEST(Templates, RandomPointsAreLegalOrRejected) {
  const target::Target target = target_with(32, 16);
  for (const auto& [name, program] : programs(8)) {
    const space::TemplateSpace space({{"direct", program}}, all(), target);
    ASSERT_GT(space.size(), 0u);
    Rng rng(3);
    for (int i = 0; i < 40; ++i) {
      const space::Point point = space.sample(rng);
      const auto state = schedule::replay(program, space.trace_of(point));
      EXPECT_TRUE(state.ok()) << name << " " << space.to_string(point) << ": "
                              << state.error().message;
    }
  }
}

// Of small spaces every point: index, configuration, text and trace lead to each other.
TEST(Templates, PointsAreFoundByIndexTextAndTrace) {
  const target::Target target = target_with(32, 16);
  for (const auto& [name, program] : programs(8)) {
    if (name != "rows" && name != "elementwise") continue;
    const space::TemplateSpace space({{"direct", program}}, all(), target);
    const std::vector<space::Knob>& knobs = space.knobs(0);
    space::TraceLookup lookup(space);
    for (std::uint64_t i = 0; i < space.size(); ++i) {
      const space::Point point = space.point_at(i);
      ASSERT_EQ(space.index_of(point), i) << name;
      const std::string text = space::to_string(knobs, point.choices);
      ASSERT_EQ(space::parse_config(knobs, text).value(), point.choices) << name << " " << text;
      const schedule::Trace trace = space.trace_of(point);
      ASSERT_TRUE(schedule::replay(program, trace).ok()) << name << " " << text;
      const auto found = lookup.find(trace);
      ASSERT_TRUE(found) << name << " " << text;
      ASSERT_EQ(schedule::hash(space.trace_of(*found)), schedule::hash(trace)) << text;
    }
  }
}

// The trace of a point given by some of its knobs, the others as by default.
std::string trace_with(const ir::Program& program, const space::Settings& settings) {
  const target::Target target = target_with(32, 16);
  const space::TemplateSpace space({{"direct", program}}, all(), target);
  space::Point point = space.defaults()[0];
  for (std::size_t i = 0; i < point.choices.size(); ++i) {
    for (const auto& [name, choice] : settings) {
      const auto& choices = space.knobs(0)[i].choices;
      if (space.knobs(0)[i].name != name) continue;
      const auto found = std::find(choices.begin(), choices.end(), choice);
      EXPECT_NE(found, choices.end()) << name << " " << to_string(choice);
      point.choices[i] = static_cast<std::uint32_t>(found - choices.begin());
    }
  }
  return schedule::to_string(space.trace_of(point));
}

TEST(Templates, RowsRunAsTheirKnobsSay) {
  const ir::Program softmax = ops::build_softmax({.m = 5, .n = 1000}).value();
  const std::string usual = trace_with(softmax, {});
  EXPECT_NE(usual.find("split output j 8 8\nunroll output j.1\nvectorize output j.2\n"),
            std::string::npos)
      << usual;
  EXPECT_NE(usual.find("parallel output i"), std::string::npos) << usual;
  const std::string narrow =
      trace_with(softmax, {{"row", {{4, 4}}}, {"row_loops", {{0, 2}}}, {"parallel", {{0}}}});
  EXPECT_NE(narrow.find("split output j 4 4\nvectorize output j.2\n"), std::string::npos) << narrow;
  EXPECT_EQ(narrow.find("parallel"), std::string::npos) << narrow;
}

TEST(Templates, LongRowsWithoutVectorsAreHopeless) {
  const target::Target target = target_with(32, 16);
  for (const auto& [length, hopeless] : {std::pair{1000, true}, std::pair{3, false}}) {
    const ir::Program softmax = ops::build_softmax({.m = 5, .n = length}).value();
    const space::TemplateSpace space({{"direct", softmax}}, all(), target);
    std::int64_t rejected = 0;
    for (std::uint64_t i = 0; i < space.size(); ++i) {
      const auto scheduled = space.schedule_of(space.point_at(i));
      if (scheduled.ok()) continue;
      EXPECT_EQ(scheduled.error().message, "a long row without vectors");
      ++rejected;
    }
    // Two of the five ways to annotate have vectors.
    EXPECT_EQ(rejected, hopeless ? static_cast<std::int64_t>(space.size()) * 3 / 5 : 0);
  }
}

// Sums of windows over an image with a border of zeros.
TEST(Templates, BordersOfWindowsAreMadeOnce) {
  const ir::Axis h{"h", 20}, w{"w", 50}, r{"r", 3}, y{"y", 22}, x{"x", 52};
  ir::Program program{"windows", {}, {}, {}};
  const ir::Buffer data = ir::add_input(program, "data", ir::kF32, {h.extent, w.extent});
  const ir::Expr row = ir::axis_var(y) - ir::Expr(1), column = ir::axis_var(x) - ir::Expr(1);
  const ir::Expr inside = row >= 0 && row < h.extent && column >= 0 && column < w.extent;
  const ir::Buffer pad = ir::add_compute(
      program, "pad", {y, x}, ir::select(inside, ir::load(data, {row, column}), ir::float_imm(0)));
  const ir::Buffer sum =
      ir::add_reduce(program, "anchor", {h, w}, {r}, ir::Reduction::Sum,
                     ir::load(pad, {ir::axis_var(h), ir::axis_var(w) + ir::axis_var(r)}));
  program.outputs = {ir::add_compute(program, "output", {h, w},
                                     ir::load(sum, {ir::axis_var(h), ir::axis_var(w)}))};
  const std::string loops = schedule::to_string(default_trace(program, target_with(32, 16)));
  EXPECT_EQ(loops.find("inline pad"), std::string::npos) << loops;
}

TEST(Templates, ReductionsOfBlocksRunInVectorsOfBlocks) {
  const std::string loops =
      schedule::to_string(default_trace(blocked_mean(24, 8), target_with(32, 16)));
  EXPECT_NE(loops.find("vectorize cache.anchor c\n"), std::string::npos) << loops;
  EXPECT_NE(loops.find("set_scope cache.anchor register\n"), std::string::npos) << loops;
}

// Images around the groups of channels, or within them, where all find the same weights.
TEST(Templates, ConvolutionsOfSeveralImagesHaveThemOutsideOrInside) {
  ops::Conv2dOptions options;
  options.n = 3, options.block = 8;
  options.ic = options.oc = 64;
  options.h = options.w = window(8, 3, 1, 1);
  const ir::Program program = ops::build_conv2d(options).value();
  const space::Choice channels_first{{0, 1, 2, 3}};
  const std::string outside = trace_with(program, {{"order", channels_first}}),
                    inside = trace_with(program, {{"order", channels_first}, {"images", {{1}}}});
  EXPECT_NE(outside.find("parallel output n*oc.0"), std::string::npos) << outside;
  EXPECT_NE(inside.find("reorder output oc.0 n oh.0"), std::string::npos) << inside;
  EXPECT_NE(inside.find("parallel output oc.0"), std::string::npos) << inside;
}

TEST(Templates, TransposedTilesAreOrderedAsTheirKnobSays) {
  const ir::Program transpose =
      ops::build_transpose({.shape = {3, 40, 50}, .perm = {0, 2, 1}}).value();
  const std::string usual = trace_with(transpose, {}),
                    other = trace_with(transpose, {{"tile_order", {{1, 0}}}});
  EXPECT_NE(usual.find("reorder output i j.0 k.0 j.1"), std::string::npos) << usual;
  EXPECT_NE(other.find("reorder output i j.0 j.1 k.0"), std::string::npos) << other;
}

}  // namespace
}  // namespace attune::templates

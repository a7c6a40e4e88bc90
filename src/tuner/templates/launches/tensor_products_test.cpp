// Products by matrix instructions: random tiles of random shapes compute what the program says, and
// what the template promises of its schedules.
#include <gtest/gtest.h>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/text/parse.h"
#include "compiler/ops/algorithms/conv2d_gemm.h"
#include "compiler/ops/algorithms/winograd.h"
#include "compiler/ops/forms/matmul.h"
#include "tuner/templates/launches/launched_testing.h"

namespace attune::templates {
namespace {

target::Target tensor_target() {
  target::Target target = launch_target();
  target.launch.shared_bytes = target.launch.resident_shared_bytes = 96 << 10;
  target.launch.matrix_units = {
      {"mma_16x8x32_f16", 64}, {"mma_16x8x32_bf16", 64}, {"mma_16x8x16_tf32", 32}};
  return target;
}

// Rounds the factors of the product, as tasks in tf32 do.
ir::Program in_tf32(ir::Program program) {
  const ir::Expr rounding =
      ir::parse_expr(ir::find_tensor_intrinsic("mma_16x8x16_tf32")->rounding).value();
  for (ir::Stage& stage : program.stages) {
    const auto* product = ir::as<ir::Binary>(stage.values[0]);
    if (stage.reduction != ir::Reduction::Sum || !product) continue;
    const ir::Expr lhs = product->lhs, rhs = product->rhs;
    stage.values[0] =
        ir::substitute(rounding, {{"x", lhs}}) * ir::substitute(rounding, {{"x", rhs}});
  }
  return program;
}

ir::Program convolution(ir::DType type, std::int64_t size, std::int64_t ic, std::int64_t oc,
                        std::int64_t kernel, std::int64_t stride, std::int64_t images = 1,
                        std::int64_t block = 4, std::int64_t dilation = 1) {
  ops::Conv2dOptions options;
  options.n = images;
  options.ic = ic;
  options.oc = oc;
  options.h = options.w = {.size = size,
                           .kernel = kernel,
                           .stride = stride,
                           .pad_before = kernel / 2,
                           .pad_after = kernel / 2,
                           .dilation = dilation};
  options.block = block;
  options.dtype = type;
  const ir::Program program = ops::build_conv2d_gemm(options).value();
  return type == ir::kF32 ? in_tf32(program) : program;
}

TEST(TensorProducts, MatricesOfAnyShape) {
  Rng rng(11);
  for (int i = 0; i < 6; ++i) {
    ops::MatmulOptions options{.m = rng.between(8, 70),
                               .n = rng.between(2, 20) * (i % 2 == 0 ? 4 : 5),
                               .k = rng.between(2, 20) * (i % 3 == 0 ? 8 : 5)};
    const auto seed = static_cast<unsigned>(i);
    expect_right(in_tf32(ops::build_matmul(options).value()), "matmul", 6, 100 + seed,
                 tensor_target());
    options.dtype = i % 2 == 0 ? ir::kF16 : ir::kBF16;
    expect_right(ops::build_dense(options).value(), "dense", 6, 200 + seed, tensor_target());
  }
}

TEST(TensorProducts, ConvolutionsOverColumns) {
  for (const ir::DType type : {ir::kF32, ir::kF16}) {
    expect_right(convolution(type, 7, 8, 24, 3, 1), "3x3", 10, 1, tensor_target());
    expect_right(convolution(type, 9, 8, 8, 3, 2), "3x3 stride 2", 8, 2, tensor_target());
    expect_right(convolution(type, 6, 20, 13, 1, 1), "1x1", 8, 3, tensor_target());
    expect_right(convolution(type, 9, 3, 8, 3, 2), "plain input", 8, 4, tensor_target());
    expect_right(convolution(type, 5, 12, 9, 3, 1, 3), "images", 6, 5, tensor_target());
    expect_right(convolution(type, 9, 8, 8, 3, 1, 1, 4, 2), "dilated", 4, 6, tensor_target());
  }
  expect_right(convolution(ir::kF16, 7, 24, 40, 3, 1, 1, 8), "blocks of 8", 8, 7, tensor_target());
  expect_right(ops::build_batch_matmul(3, {.m = 20, .n = 24, .k = 40, .dtype = ir::kF16}).value(),
               "batch", 6, 8, tensor_target());
}

// Forms whose products these units do not multiply, or not as they lie, have the other template.
TEST(TensorProducts, WinogradHasProductsOfItsOwn) {
  ops::Conv2dOptions options;
  options.ic = options.oc = 8;
  options.h = options.w = {
      .size = 8, .kernel = 3, .stride = 1, .pad_before = 1, .pad_after = 1, .dilation = 1};
  options.block = 4;
  const ir::Program program = ops::build_winograd(options, 2).value();
  expect_right(program, "f32", 2, 1, tensor_target());
  expect_right(in_tf32(program), "tf32", 2, 2, tensor_target());
}

// Groups add up in shared memory, blocks in a second launch; copies run ahead.
TEST(TensorProducts, SumsAreSharedOutTwice) {
  const ir::Program program = convolution(ir::kF32, 7, 32, 32, 3, 1);
  const space::TemplateSpace space({{"gemm", program}}, launches(), tensor_target());
  const auto choices = space::parse_config(
      space.knobs(0), "rows=1x2 columns=2x1 panels=1 groups=2 splits=3 stages=3");
  ASSERT_TRUE(choices.ok()) << choices.error().message;
  const space::Point point{0, *choices};
  ASSERT_TRUE(space.schedule_of(point).ok()) << space.schedule_of(point).error().message;
  schedule::Trace trace = space.trace_of(point);
  const std::string text = schedule::to_string(trace);
  for (const char* step :
       {"pad anchor p 32", "pad anchor oc 8", "rfactor anchor r.0", "pipeline columns 3",
        "set_scope rf.cache.rf.anchor shared", "set_scope cache.rf.cache.rf.anchor register",
        "tensorize cache.rf.cache.rf.anchor p.1 mma_16x8x16_tf32", "vectorize output ob"}) {
    EXPECT_NE(text.find(step), std::string::npos) << step << " in\n" << text;
  }
  trace.erase(trace.begin());  // the algorithm, which the program is
  EXPECT_EQ(Launched(program).check(trace), "");
}

// Of weights that are packed ahead, a thread copies whole vectors, whatever order they came in.
TEST(TensorProducts, PackedWeightsAreCopiedInVectors) {
  for (const ir::DType type : {ir::kF16, ir::kF32}) {
    const ir::Program dense = ops::build_dense({.m = 16, .n = 64, .k = 128, .dtype = type}).value();
    const ir::Program program = type == ir::kF32 ? in_tf32(dense) : dense;
    const std::string text = schedule::to_string(
        space::default_trace(launch_tensor_products(), program, tensor_target()));
    EXPECT_NE(text.find("vectorize cache.filter k.1.1"), std::string::npos) << text;
    EXPECT_NE(text.find("vectorize cache.data i1.1.1"), std::string::npos) << text;
  }
}

// Where a device copies pieces of memory by itself, weights come so.
TEST(TensorProducts, WeightsAreCopiedInBulk) {
  target::Target target = tensor_target();
  target.launch.matrix_units.push_back({"wgmma_64x32x16_f16", 128});
  const ir::Program programs[] = {
      ops::build_dense({.m = 20, .n = 72, .k = 200, .dtype = ir::kF16}).value(),
      in_tf32(ops::build_dense({.m = 33, .n = 32, .k = 64}).value()),
      convolution(ir::kF32, 7, 8, 24, 3, 1), convolution(ir::kF16, 7, 24, 40, 3, 1, 2, 8)};
  for (const ir::Program& program : programs) expect_right(program, "bulk", 4, 9, target);
  const space::TemplateSpace space({{"direct", programs[0]}}, launches(), target);
  const auto choices = space::parse_config(
      space.knobs(0), "rows=1x1 columns=2x1 panels=1 groups=2 splits=1 stages=3 bulk=1");
  ASSERT_TRUE(choices.ok()) << choices.error().message;
  ASSERT_TRUE(space.schedule_of({0, *choices}).ok());
  const schedule::Trace trace = space.trace_of({0, *choices});
  EXPECT_EQ(Launched(programs[0]).check(trace), "");
  const auto state = schedule::replay(programs[0], trace);
  lower::Options options;
  options.pipeline = lower::launch_pipeline();
  const std::string kernel = ir::to_string(lower::lower(*state, options)->main);
  EXPECT_NE(kernel.find("@bulk_copy"), std::string::npos) << kernel;
  // Nobody else is offered that.
  const space::TemplateSpace usual({{"direct", programs[0]}}, launches(), tensor_target());
  for (const space::Knob& knob : usual.knobs(0)) EXPECT_NE(knob.name, "bulk");
}

// No shape falls back to other schedules.
TEST(TensorProducts, AllLegalPointsMultiplyByUnits) {
  const ir::Program programs[] = {
      convolution(ir::kF32, 7, 8, 24, 3, 1),
      convolution(ir::kF16, 9, 3, 8, 3, 2),
      convolution(ir::kF16, 7, 24, 40, 3, 1, 2, 8),
      convolution(ir::kF32, 6, 20, 13, 1, 1),
      in_tf32(ops::build_matmul({.m = 33, .n = 25, .k = 35}).value()),
      ops::build_dense({.m = 9, .n = 50, .k = 70, .dtype = ir::kBF16}).value()};
  for (const ir::Program& program : programs) {
    const space::TemplateSpace space({{"direct", program}}, launches(), tensor_target());
    Rng rng(3);
    int seen = 0;
    for (int i = 0; i < 60; ++i) {
      const space::Point point = i == 0 ? space.defaults().front() : space.sample(rng);
      if (!space.schedule_of(point).ok()) continue;
      ++seen;
      const std::string text = schedule::to_string(space.trace_of(point));
      EXPECT_NE(text.find("tensorize"), std::string::npos)
          << program.name << " " << space.to_string(point);
    }
    EXPECT_GT(seen, 3) << program.name;
  }
}

// f32 that nobody rounds is not multiplied in tf32, and devices without such units have others.
TEST(TensorProducts, AreForWhatUnitsMultiply) {
  const auto name = [](const ir::Program& program, const target::Target& target) {
    space::Findings findings;
    for (const space::Template& each : launches()) {
      if (each.fits_on({program, findings}, target)) return each.name;
    }
    return std::string_view("none");
  };
  ops::MatmulOptions options{.m = 64, .n = 64, .k = 64};
  const ir::Program plain = ops::build_dense(options).value();
  EXPECT_EQ(name(plain, tensor_target()), "products");
  EXPECT_EQ(name(in_tf32(plain), tensor_target()), "tensor_products");
  EXPECT_EQ(name(in_tf32(plain), launch_target()), "products");
  options.dtype = ir::kF16;
  EXPECT_EQ(name(ops::build_dense(options).value(), tensor_target()), "tensor_products");
}

}  // namespace
}  // namespace attune::templates

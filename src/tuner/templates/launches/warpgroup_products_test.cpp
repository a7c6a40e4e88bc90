// Large products by instructions of warpgroups: random tiles compute what the program says, and
// only targets that have the instructions are given them.
#include <gtest/gtest.h>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"
#include "compiler/ir/text/parse.h"
#include "compiler/ops/forms/matmul.h"
#include "tuner/templates/launches/launched_testing.h"

namespace attune::templates {
namespace {

target::Target with_warpgroups() {
  target::Target target = launch_target();
  target.launch.matrix_units = {{"wgmma_64x32x16_f16", 2048},
                                {"wgmma_64x64x16_f16", 2048},
                                {"wgmma_64x32x8_tf32", 1024},
                                {"wgmma_64x64x8_tf32", 1024}};
  return target;
}

// The alternatives of a program that the template schedules.
std::vector<std::uint32_t> alternatives_of(const space::TemplateSpace& space) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < space.alternatives(); ++i) {
    const space::Point point = space.defaults()[i];
    if (space.to_string(point).find("warpgroup_products") != std::string::npos) found.push_back(i);
  }
  return found;
}

void expect_right_by_warpgroups(const ir::Program& program, int wanted, std::uint64_t seed) {
  const space::TemplateSpace space({{"direct", program}}, launches(), with_warpgroups());
  const auto alternatives = alternatives_of(space);
  ASSERT_EQ(alternatives.size(), 1u);
  const Launched launched(program);
  Rng rng(seed);
  int compared = 0;
  for (int tries = 0; tries < 100 && compared < wanted; ++tries) {
    space::Point point = space.defaults()[alternatives[0]];
    for (int steps = 0; steps < 3 * tries; ++steps) point = space.neighbour(point, rng);
    if (!space.schedule_of(point).ok()) {
      EXPECT_NE(tries, 0) << space.schedule_of(point).error().message;
      continue;
    }
    const schedule::Trace trace = space.trace_of(point);
    const std::string text = schedule::to_string(trace);
    ASSERT_NE(text.find("tensorize"), std::string::npos) << space.to_string(point) << "\n" << text;
    ASSERT_EQ(launched.check(trace), "") << space.to_string(point) << "\n" << text;
    ++compared;
  }
  EXPECT_EQ(compared, wanted);
}

TEST(WarpgroupProducts, WithPackedWeights) {
  expect_right_by_warpgroups(
      ops::build_dense({.m = 256, .n = 64, .k = 64, .dtype = ir::kF16}).value(), 6, 3);
  expect_right_by_warpgroups(
      ops::build_dense({.m = 192, .n = 96, .k = 48, .dtype = ir::kF16}).value(), 4, 5);
}

// As tasks in tf32 have it: weights are rounded ahead, the others where they are multiplied.
TEST(WarpgroupProducts, InTf32) {
  ir::Program program = ops::build_dense({.m = 128, .n = 64, .k = 80}).value();
  const ir::Expr rounding =
      ir::parse_expr(ir::find_tensor_intrinsic("mma_16x8x16_tf32")->rounding).value();
  for (ir::Stage& stage : program.stages) {
    if (stage.name == "filter")
      stage.values[0] = ir::substitute(rounding, {{"x", stage.values[0]}});
    const auto* product = ir::as<ir::Binary>(stage.values[0]);
    if (stage.reduction != ir::Reduction::Sum || !product) continue;
    const ir::Expr lhs = product->lhs, rhs = product->rhs;
    stage.values[0] = ir::substitute(rounding, {{"x", lhs}}) * rhs;
  }
  expect_right_by_warpgroups(program, 5, 7);
}

TEST(WarpgroupProducts, AreForTargetsThatHaveThem) {
  const auto count = [](const ir::Program& program, const target::Target& target) {
    return alternatives_of(space::TemplateSpace({{"direct", program}}, launches(), target)).size();
  };
  const auto dense = [](std::int64_t m, std::int64_t k, ir::DType type) {
    return ops::build_dense({.m = m, .n = 64, .k = k, .dtype = type}).value();
  };
  EXPECT_EQ(count(dense(128, 64, ir::kF16), with_warpgroups()), 1u);
  EXPECT_EQ(count(dense(128, 64, ir::kF16), launch_target()), 0u);
  EXPECT_EQ(count(dense(128, 64, ir::kF32), with_warpgroups()), 0u);
  EXPECT_EQ(count(dense(100, 64, ir::kF16), with_warpgroups()), 0u);
  EXPECT_EQ(count(dense(128, 40, ir::kF16), with_warpgroups()), 0u);
}

}  // namespace
}  // namespace attune::templates

#include "tuner/space/spans.h"

#include <gtest/gtest.h>

#include "compiler/ir/nodes/tensor_expr.h"

namespace attune::space {
namespace {

// The stride along the last axis, `x`, of 16 neighbours that read `index` of a buffer.
std::int64_t stride_of(const std::vector<std::int64_t>& shape, const std::vector<ir::Expr>& index) {
  ir::Program program{"read", {}, {}, {}};
  const ir::Buffer a = ir::add_input(program, "a", ir::kF32, shape);
  program.outputs = {ir::add_compute(program, "output", {{"y", 4}, {"x", 16}}, ir::load(a, index))};
  const schedule::State state = schedule::initial_state(program);
  const schedule::StageState& stage = *state.stages[0];
  return memory_stride(stage.stage, stage.accesses[0], {}, 1, 16);
}

const ir::Expr x = ir::var("x"), y = ir::var("y"), four = ir::int_imm(4);

TEST(MemoryStride, IsThatOfRows) {
  EXPECT_EQ(stride_of({4, 16}, {y, x}), 1);
  EXPECT_EQ(stride_of({16, 4}, {x, y}), 4);
  EXPECT_EQ(stride_of({4, 16}, {y, y}), 0);
}

// What is counted by two indices lies side by side all the same.
TEST(MemoryStride, IsRegularWhereDivisionAndRemainderMeet) {
  EXPECT_EQ(stride_of({4, 4, 4}, {y, x / four, x % four}), 1);
  EXPECT_EQ(stride_of({4, 4, 4}, {x / four, x % four, y}), 4);
}

TEST(MemoryStride, IsIrregularWhereTheyDoNot) {
  EXPECT_EQ(stride_of({4, 4, 4}, {x / four, y, x % four}), -1);
  EXPECT_EQ(stride_of({4, 4, 5}, {y, x / four, x % four}), -1);
  EXPECT_EQ(stride_of({4, 4, 4}, {x % four, x / four, y}), -1);
  // From the second row on they begin within a group of four.
  EXPECT_EQ(stride_of({8, 4}, {(x + y) / four, x % four}), -1);
  // The third row is the first one in which a group of 40 ends.
  const ir::Expr group = (y * ir::int_imm(16) + x) / ir::int_imm(40);
  EXPECT_EQ(stride_of({2, 4}, {group, y}), -1);
  EXPECT_EQ(stride_of({2, 4}, {(group * ir::int_imm(20) + y) / ir::int_imm(16), y}), -1);
  // The second run of 16 crosses the end of 20.
  EXPECT_EQ(stride_of({4, 4}, {x / ir::int_imm(20), y}), -1);
}

}  // namespace
}  // namespace attune::space

// Attention and the cells of recurrent networks, each one launch: random points compute what the
// program says, and nothing but the result goes through global memory.
#include <gtest/gtest.h>

#include "compiler/ir/text/parse.h"
#include "tuner/templates/launches/launched_testing.h"

namespace attune::templates {
namespace {

// As tasks of graphs have it: three parts of one tensor, scaled scores and a mask.
ir::Program attention(std::int64_t queries, std::int64_t keys) {
  const std::string text = fmt::format(R"(program attention {{
  input scores.operand0: f32[{0}, 24]
  input scores.operand1: f32[{1}, 16]
  input scores.mask: f32[{0}, {1}]
  input operand0: f32[{1}, 24]
  stage scores.a(d0: 2, d1: {0}, d2: 8) = scores.operand0[d1, d0 * 8 + d2]
  stage scores.b(d0: 2, d1: 8, d2: {1}) = scores.operand1[d2, d0 * 8 + d1]
  stage scores.anchor(b: 2, i: {0}, j: {1}) = sum(k: 8) scores.a[b, i, k] * scores.b[b, k, j]
  stage scores.scaled(b: 2, i: {0}, j: {1}) = scores.anchor[b, i, j] * 0.5f32
  stage scores.output(b: 2, i: {0}, j: {1}) = scores.scaled[b, i, j] + scores.mask[i, j]
  stage weights.max(d0: 2, d1: {0}) = max(r0: {1}) scores.output[d0, d1, r0]
  stage weights.exp(d0: 2, d1: {0}, d2: {1}) = exp(scores.output[d0, d1, d2] - weights.max[d0, d1])
  stage weights.sum(d0: 2, d1: {0}) = sum(r0: {1}) weights.exp[d0, d1, r0]
  stage b(d0: 2, d1: {1}, d2: 12) = operand0[d1, d0 * 12 + d2]
  stage anchor(b: 2, i: {0}, j: 12) = sum(k: {1}) weights.exp[b, i, k] * b[b, k, j]
  stage 'output'(b: 2, i: {0}, j: 12) = anchor[b, i, j] * (1.0f32 / weights.sum[b, i])
  output 'output'
}})",
                                       queries, keys);
  auto program = ir::parse_program(text);
  CHECK(program.ok(), program.ok() ? "" : program.error().message);
  return *program;
}

ir::Program cell(std::int64_t rows, std::int64_t columns) {
  const std::string text = fmt::format(R"(program cell {{
  constant weight: f32[20, {2}]
  input operand0: f32[{0}, 20]
  input operand1: f32[2, {0}, {1}]
  constant operand2: f32[1, {2}]
  stage data(d0: {0}, d1: 20) = operand0[d0, d1]
  stage filter(k: 20, g: 3, j: {1}) = weight[k, g * {1} + j]
  stage anchor(i: {0}, g: 3, j: {1}) = sum(k: 20) data[i, k] * filter[k, g, j]
  stage epilogue.0(i: {0}, g: 3, j: {1}) = anchor[i, g, j] + operand2[0, g * {1} + j]
  stage epilogue.1(d0: {0}, d1: {1}) = epilogue.0[d0, 0, d1] * operand1[1, d0, d1]
  stage epilogue.2(d0: {0}, d1: {1}) = tanh(epilogue.0[d0, 1, d1]) + epilogue.1[d0, d1]
  stage epilogue.3(d0: {0}, d1: {1}) = tanh(epilogue.2[d0, d1]) * epilogue.0[d0, 2, d1]
  stage 'output'(d0: 2, d1: {0}, d2: {1}) = select(d0 < 1, epilogue.3[d1, d2], epilogue.2[d1, d2])
  output 'output'
}})",
                                       rows, columns, 3 * columns);
  auto program = ir::parse_program(text);
  CHECK(program.ok(), program.ok() ? "" : program.error().message);
  return *program;
}

// The stages that are stored in global memory when the program runs.
std::vector<std::string> stored(const ir::Program& program, const space::Template& schedule) {
  const schedule::Trace trace = space::default_trace(schedule, program, launch_target());
  const auto state = schedule::replay(program, trace);
  CHECK(state.ok(), state.ok() ? "" : state.error().message);
  std::vector<std::string> roots;
  for (const auto& stage : state->stages) {
    const std::string& name = stage->stage.name;
    if (stage->at_root() && name != "filter") roots.push_back(name);
  }
  return roots;
}

TEST(LaunchFusedForms, Attention) {
  space::Findings findings;
  EXPECT_TRUE(launch_attention().fits({attention(9, 12), findings}));
  EXPECT_EQ(stored(attention(9, 12), launch_attention()), std::vector<std::string>{"output"});
  expect_right(attention(9, 12), "attention", 12, 1);
  expect_right(attention(10, 13), "odd keys", 12, 2);
}

TEST(LaunchFusedForms, Cells) {
  space::Findings findings;
  EXPECT_TRUE(launch_cells().fits({cell(1, 12), findings}));
  EXPECT_EQ(stored(cell(1, 12), launch_cells()), std::vector<std::string>{"output"});
  expect_right(cell(1, 12), "one row", 12, 1);
  expect_right(cell(3, 10), "three rows", 12, 2);
  expect_right(cell(2, 7), "odd columns", 12, 3);
}

}  // namespace
}  // namespace attune::templates

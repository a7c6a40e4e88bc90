// Matrix products agree with the interpreter in every way that threads may share them and operands
// may lie: shares of the reduction, blocks of rows and panels, rows times rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/ops/forms/matmul.h"
#include "targets/kinds.h"
#include "tests/support/run_scheduled.h"
#include "tuner/space/template_space.h"
#include "tuner/templates/templates.h"

namespace attune::test {
namespace {

target::Target three_threads() {
  target::Target own;
  own.threads = 3;
  return targets::resolve(own).value();
}

// a[b, i, k] * b[b, j, k]: both lie with the reduction innermost.
ir::Program rows_times_rows(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  ir::Program program{"rows_times_rows", {}, {}, {}};
  const ir::Buffer a = ir::add_input(program, "a", ir::kF32, {batch, m, k});
  const ir::Buffer b = ir::add_input(program, "b", ir::kF32, {batch, n, k});
  const std::vector<ir::Axis> axes{{"b", batch}, {"i", m}, {"j", n}};
  const ir::Expr value = ir::load(a, {ir::var("b"), ir::var("i"), ir::var("k")}) *
                         ir::load(b, {ir::var("b"), ir::var("j"), ir::var("k")});
  const ir::Buffer anchor =
      ir::add_reduce(program, "anchor", axes, {{"k", k}}, ir::Reduction::Sum, value);
  const ir::Expr sum = ir::load(anchor, {ir::var("b"), ir::var("i"), ir::var("j")});
  program.outputs = {ir::add_compute(program, "output", axes, ir::max(sum, ir::float_imm(0)))};
  return program;
}

// Checks, from the default on, every choice of these knobs that is allowed; how many that were.
int check_choices(const ir::Program& program, const std::vector<std::string>& knobs) {
  const target::Target target = three_threads();
  const space::TemplateSpace space({{"direct", program}}, templates::all(), target);
  const Reference reference = make_reference(program, 1).value();
  int checked = 0;
  const auto check = [&](const space::Point& point) {
    if (!space.schedule_of(point).ok()) return;
    for (const Way way : {Way::Interpreted, Way::Compiled}) {
      const Status status =
          check_trace(program, space.trace_of(point), target, reference, 1e-5, way);
      EXPECT_TRUE(status.ok()) << program.name << " " << space.to_string(point) << ": "
                               << status.error().message << "\n"
                               << schedule::to_string(space.trace_of(point));
    }
    ++checked;
  };
  std::vector<space::Point> points = space.defaults();
  for (const std::string& name : knobs) {
    const auto& all = space.knobs(0);
    const auto knob = std::find_if(all.begin(), all.end(),
                                   [&](const space::Knob& other) { return other.name == name; });
    if (knob == all.end()) return 0;
    std::vector<space::Point> turned;
    for (const space::Point& point : points) {
      const std::uint32_t step = knob->choices.size() > 16 ? 5 : 1;
      for (std::uint32_t choice = 1; choice < knob->choices.size(); choice += step) {
        turned.push_back(point);
        turned.back().choices[static_cast<std::size_t>(knob - all.begin())] = choice;
        if (name == knobs.back()) check(turned.back());
      }
    }
    points = std::move(turned);
  }
  return checked;
}

TEST(ProductForms, ThreadsHaveSharesOfTheReduction) {
  EXPECT_GT(check_choices(ops::build_dense({.m = 3, .n = 21, .k = 301}).value(), {"shares"}), 1);
  EXPECT_GT(check_choices(ops::build_matmul({.m = 1, .n = 40, .k = 257}).value(), {"shares"}), 1);
  EXPECT_GT(check_choices(ops::build_matmul({.m = 5, .n = 9, .k = 128}).value(), {"shares"}), 1);
  const auto batch = ops::build_batch_matmul(2, {.m = 3, .n = 17, .k = 150}).value();
  EXPECT_GT(check_choices(batch, {"shares"}), 1);
  EXPECT_GT(check_choices(rows_times_rows(2, 3, 17, 150), {"shares"}), 1);
}

TEST(ProductForms, ThreadsHaveBlocksOfRowsAndPanels) {
  EXPECT_GT(
      check_choices(ops::build_dense({.m = 37, .n = 150, .k = 20}).value(), {"block", "grid"}), 1);
  const auto batch = ops::build_batch_matmul(2, {.m = 19, .n = 70, .k = 9}).value();
  EXPECT_GT(check_choices(batch, {"block", "grid"}), 1);
}

TEST(ProductForms, RowsAreMultipliedWithRows) {
  EXPECT_GT(check_choices(rows_times_rows(2, 3, 17, 150), {"dots"}), 1);
  EXPECT_GT(check_choices(rows_times_rows(1, 13, 5, 64), {"dots"}), 1);
  EXPECT_GT(check_choices(rows_times_rows(1, 1, 20, 101), {"unroll", "dots"}), 1);
  // A matrix that lies with its columns innermost has none.
  EXPECT_EQ(check_choices(ops::build_matmul({.m = 4, .n = 20, .k = 64}).value(), {"dots"}), 0);
}

}  // namespace
}  // namespace attune::test

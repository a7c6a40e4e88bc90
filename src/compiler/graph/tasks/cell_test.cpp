// Which products and what follows them become one kernel, and how that reads its parts.
#include "compiler/graph/tasks/cell.h"

#include <gtest/gtest.h>

#include "compiler/graph/builder.h"
#include "compiler/graph/tasks/operators_testing.h"
#include "compiler/ir/text/print.h"

namespace attune::graph {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kRows = 3, kColumns = 5;

// A graph in the making: a product of h with weights for `parts` parts.
struct Cell {
  Builder builder{"cell"};
  ValueId h = builder.input("h", {ir::kF32, {kRows, 7}, {}});
  ValueId c = builder.input("c", {ir::kF32, {kRows, kColumns}, {}});
  ValueId product;

  explicit Cell(std::int64_t parts) {
    const ValueId weight =
        builder.constant(ops::make_constant(ir::Array(ir::kF32, {7, parts * kColumns})));
    product = *builder.add("matmul", {h, weight});
  }
  ValueId add(const std::string& op, const std::vector<ValueId>& inputs) {
    return *builder.add(op, inputs);
  }
  ValueId part(ValueId from, std::int64_t number) {
    return *builder.add("slice", {from},
                        {{"starts", Ints{0, number * kColumns}},
                         {"steps", Ints{1, 1}},
                         {"shape", Ints{kRows, kColumns}}});
  }
  Graph finish(std::vector<ValueId> outputs) && {
    return std::move(builder).finish(std::move(outputs));
  }
};

std::string program_of(const Graph& graph, const Group& group) {
  const auto task = make_task(graph, group);
  return task.ok() ? ir::to_string(task->op.program) : task.error().message;
}

TEST(Cells, TakeAllThatFollowsAProductPartByPart) {
  Cell cell(2);
  const ValueId bias = cell.builder.input("bias", {ir::kF32, {kRows, 2 * kColumns}, {}});
  const ValueId all = cell.add("add", {cell.product, bias});
  const ValueId open = cell.add("sigmoid", {cell.part(all, 0)});
  const ValueId c = cell.add("mul", {open, cell.c});
  const ValueId h = cell.add("mul", {c, cell.part(all, 1)});
  const ValueId both = cell.add("stack", {h, c});
  const Graph graph = std::move(cell).finish({both});
  EXPECT_EQ(operators_of(graph),
            (std::vector<std::string>{"matmul+add+slice+sigmoid+mul+slice+mul+stack"}));
  const auto groups = fuse(graph, find_pieces(graph));
  const auto task = make_task(graph, groups[0]);
  ASSERT_TRUE(task.ok()) << task.error().message;
  EXPECT_EQ(task->name, "cell 2x3x5");
  const std::string text = program_of(graph, groups[0]);
  for (const char* stage : {"stage anchor(i: 3, g: 2, j: 5)", "= epilogue.1[d0, 0, d1]",
                            "= epilogue.1[d0, 1, d1]", "operand0[i, g * 5 + j]"}) {
    EXPECT_NE(text.find(stage), std::string::npos) << stage << "\n" << text;
  }
}

TEST(Cells, TakeInArithmeticThatOnlyTheyRead) {
  Cell cell(2);
  const ValueId length = cell.builder.input("length", {ir::kF32, {kRows, 1}, {}});
  const ValueId wide = cell.builder.input("wide", {ir::kF32, {kRows, 2 * kColumns}, {}});
  const ValueId short_ones = cell.add("relu", {length});
  const ValueId beside = cell.part(wide, 1);
  const ValueId scaled = cell.add("mul", {cell.part(cell.product, 0), short_ones});
  const ValueId sum = cell.add("add", {scaled, cell.part(cell.product, 1)});
  const ValueId last = cell.add("add", {sum, beside});
  const Graph graph = std::move(cell).finish({last});
  EXPECT_EQ(operators_of(graph),
            (std::vector<std::string>{"matmul+relu+slice+slice+mul+slice+add+add"}));
  const std::string text = program_of(graph, fuse(graph, find_pieces(graph))[0]);
  EXPECT_NE(text.find("d1 + 5]"), std::string::npos) << text;
}

// What the product reads through movement others may read too.
TEST(Cells, ReadOperandsOfTheProductBesideIt) {
  Builder builder("state");
  const ValueId state = builder.input("state", {ir::kF32, {2, kRows, kColumns}, {}});
  const ValueId one = *builder.add(
      "slice", {state},
      {{"starts", Ints{1, 0, 0}}, {"steps", Ints{1, 1, 1}}, {"shape", Ints{1, kRows, kColumns}}});
  const ValueId h = *builder.add("reshape", {one}, {{"shape", Ints{kRows, kColumns}}});
  const ValueId weight =
      builder.constant(ops::make_constant(ir::Array(ir::kF32, {kColumns, 2 * kColumns})));
  const ValueId product = *builder.add("matmul", {h, weight});
  const auto part = [&](std::int64_t start) {
    return *builder.add(
        "slice", {product},
        {{"starts", Ints{0, start}}, {"steps", Ints{1, 1}}, {"shape", Ints{kRows, kColumns}}});
  };
  const ValueId a = part(0), b = part(kColumns);
  const ValueId sum = *builder.add("add", {*builder.add("mul", {a, b}), h});
  const Graph graph = std::move(builder).finish({sum});
  const auto groups = fuse(graph, find_pieces(graph));
  ASSERT_EQ(groups.size(), 1U);
  const auto task = make_task(graph, groups[0]);
  ASSERT_TRUE(task.ok()) << task.error().message;
  for (const ValueId input : task->inputs) EXPECT_TRUE(input == state || input == weight);
}

// What the product multiplies is in memory: only movement is read through.
TEST(Cells, LeaveWhatTheProductMultipliesToOthers) {
  for (const bool is_read_twice : {false, true}) {
    Builder builder("embedding");
    const ValueId table = builder.constant(ops::make_constant(ir::Array(ir::kF32, {9, kColumns})));
    const ValueId tokens = builder.input("tokens", {ir::kI64, {1, kRows}, {}});
    const ValueId rows = *builder.add("gather", {table, tokens}, {{"axis", std::int64_t{0}}});
    const ValueId x = *builder.add("reshape", {rows}, {{"shape", Ints{kRows, kColumns}}});
    const ValueId weight =
        builder.constant(ops::make_constant(ir::Array(ir::kF32, {kColumns, 2 * kColumns})));
    const ValueId product = *builder.add("matmul", {x, weight});
    const auto part = [&](std::int64_t start) {
      return *builder.add(
          "slice", {product},
          {{"starts", Ints{0, start}}, {"steps", Ints{1, 1}}, {"shape", Ints{kRows, kColumns}}});
    };
    const ValueId both = *builder.add("mul", {part(0), part(kColumns)});
    const ValueId result = is_read_twice ? *builder.add("add", {both, x}) : both;
    const Graph graph = std::move(builder).finish({result});
    const auto groups = fuse(graph, find_pieces(graph));
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0].nodes.size(), 1U);
    const auto task = make_task(graph, groups[1]);
    ASSERT_TRUE(task.ok()) << task.error().message;
    for (const ValueId input : task->inputs) EXPECT_TRUE(input == rows || input == weight);
  }
}

// Groups that are no cells: several results, parts that nobody reads, parts of other sizes.
TEST(Cells, HaveOneResultAndEqualParts) {
  {
    Cell cell(2);
    const ValueId a = cell.part(cell.product, 0), b = cell.part(cell.product, 1);
    const ValueId h = cell.add("mul", {a, b}), c = cell.add("add", {a, b});
    const Graph graph = std::move(cell).finish({h, c});
    EXPECT_TRUE(find_cells(graph).empty());
  }
  {
    Cell cell(3);
    const ValueId h = cell.add("mul", {cell.part(cell.product, 0), cell.part(cell.product, 1)});
    const Graph graph = std::move(cell).finish({h});
    EXPECT_TRUE(find_cells(graph).empty());
  }
  {
    Cell cell(2);
    const ValueId h = cell.add("relu", {cell.product});
    const Graph graph = std::move(cell).finish({h, cell.product});
    EXPECT_TRUE(find_cells(graph).empty());
  }
}

TEST(Cells, EndWhereOthersReadTheirResult) {
  Cell cell(2);
  const ValueId h = cell.add("mul", {cell.part(cell.product, 0), cell.part(cell.product, 1)});
  const ValueId next = cell.add("relu", {h});
  const Graph graph = std::move(cell).finish({h, next});
  EXPECT_EQ(operators_of(graph), (std::vector<std::string>{"matmul+slice+slice+mul", "relu"}));
}

}  // namespace
}  // namespace attune::graph

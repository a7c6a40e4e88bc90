// Tasks of 16 bits: what they round, and that precisions are different tasks.
#include "compiler/graph/tasks/roundings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "compiler/graph/builder.h"
#include "compiler/graph/passes/passes.h"
#include "compiler/graph/tasks/product_operands.h"
#include "compiler/graph/tasks/tasks.h"
#include "compiler/ir/interpret/interpret.h"
#include "compiler/ir/text/print.h"

namespace attune::graph {
namespace {

Graph dense(ops::Precision precision) {
  Builder b("dense");
  const ValueId x = b.input("x", {ir::kF32, {2, 16}, {}});
  const auto constant = [&](std::int64_t rows, std::int64_t columns) {
    ir::Array array(ir::kF32, {rows, columns});
    for (std::int64_t i = 0; i < array.count(); ++i) array.set_real(i, 0.1 * double(i % 7));
    return b.constant(ops::make_constant(std::move(array)));
  };
  const ValueId sum = *b.add("add", {*b.add("matmul", {x, constant(16, 8)}), constant(1, 8)});
  const ValueId y = *b.add("matmul", {*b.add("relu", {sum}), constant(8, 4)});
  const Graph graph = std::move(b).finish({y});
  return *optimise(graph, {.context = {.precision = precision}});
}

std::vector<Task> products(const Graph& graph) {
  std::vector<Task> tasks;
  for (const Group& group : fuse(graph, find_pieces(graph))) {
    const bool product = std::any_of(group.nodes.begin(), group.nodes.end(),
                                     [&](int node) { return node_at(graph, node).op == "matmul"; });
    if (product) tasks.push_back(*make_task(graph, group));
  }
  return tasks;
}

TEST(Roundings, OnlyWhatATaskGivesIsRounded) {
  const std::vector<Task> tasks = products(dense(ops::Precision::F16));
  ASSERT_EQ(tasks.size(), 2U);
  for (const ir::Stage& stage : tasks[0].op.program.stages) {
    const bool narrow = stage.name == "output" || stage.name == "filter";
    EXPECT_EQ(stage.outputs[0]->type, narrow ? ir::kF16 : ir::kF32) << stage.name;
  }
  // The last product is widened behind its sum, and never rounded.
  for (const ir::Stage& stage : tasks[1].op.program.stages) {
    EXPECT_EQ(stage.outputs[0]->type, stage.name == "filter" ? ir::kF16 : ir::kF32) << stage.name;
  }
}

TEST(Roundings, PrecisionsAreDifferentTasks) {
  std::set<std::string> keys;
  for (const ops::Precision precision : ops::kPrecisions) {
    for (const Task& task : products(dense(precision))) keys.insert(task.key);
  }
  EXPECT_EQ(keys.size(), 2 * ops::kPrecisions.size());
}

TEST(Roundings, TolerancesGrowWithThem) {
  const auto tolerance = [](ops::Precision precision) {
    return products(dense(precision)).front().op.tolerance;
  };
  EXPECT_EQ(tolerance(ops::Precision::F32), 2e-5);
  EXPECT_EQ(tolerance(ops::Precision::TF32), 1e-3);
  EXPECT_EQ(tolerance(ops::Precision::F16), 2e-3);
  EXPECT_EQ(tolerance(ops::Precision::BF16), 1e-2);
}

// As an instruction for tf32 has to write its meaning.
TEST(ProductOperands, AreRoundedInSoManyWords) {
  const Task task = products(dense(ops::Precision::TF32)).front();
  const ir::Stage& anchor = *task.op.program.find_stage("anchor");
  EXPECT_EQ(ir::to_string(anchor.values[0]),
            "bitcast<f32>(bitcast<i32>(data[i, k]) + 4096i32 & -8192i32) * filter[k, j]");
  // Weights are rounded once, ahead of time.
  const ir::Stage& filter = *task.op.program.find_stage("filter");
  EXPECT_NE(ir::to_string(filter.values[0]).find("+ 4096i32 & -8192i32)"), std::string::npos)
      << ir::to_string(filter.values[0]);
}

TEST(ProductOperands, AreRoundedToTenBits) {
  ir::Program program{"round", {}, {}, {}};
  const ir::Buffer x = ir::add_input(program, "x", ir::kF32, {5});
  program.outputs = {
      ir::add_compute(program, "output", {{"i", 5}}, rounded_to_tf32(ir::load(x, {ir::var("i")})))};
  ir::Array values(ir::kF32, {5});
  const double given[] = {1, 1 + 0x1p-11, -1 - 0x1p-12, 3.14159265, 0};
  const double rounded[] = {1, 1 + 0x1p-10, -1, 3.140625, 0};
  for (std::int64_t i = 0; i < 5; ++i) values.set_real(i, given[i]);
  const auto result = ir::interpret(program, {values});
  ASSERT_TRUE(result.ok());
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ((*result)[0].real(i), rounded[i]);
}

}  // namespace
}  // namespace attune::graph

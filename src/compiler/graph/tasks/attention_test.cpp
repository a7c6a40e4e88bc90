// Attention as one task: what belongs to it, and that it means what its nodes mean.
#include "compiler/graph/tasks/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/graph/builder.h"
#include "compiler/graph/passes/passes.h"
#include "compiler/ir/interpret/interpret.h"

namespace attune::graph {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kBatch = 2, kHeads = 4, kGroups = 2, kQueries = 9, kKeys = 5, kTerms = 3;

struct Wanted {
  std::int64_t queries = kQueries;
  bool grouped = false;     // two heads of queries share one of keys
  bool masked = false;      // a number for each batch and key is added
  bool shared = false;      // the weights are an output of their own
  bool by_columns = false;  // softmax along the queries
  bool zeroed = false;      // rows whose mask excludes everything are 0
  std::int64_t keys = kKeys;
  bool causal = false;  // each query sees one key more than the one before, the first one sees one
};

Graph model(const Wanted& wanted) {
  Builder builder("attention");
  const std::int64_t each = wanted.grouped ? kHeads / kGroups : 1;
  const std::int64_t groups = kHeads / each;
  // Heads lie side by side, as projections leave them.
  const ValueId q = builder.input("q", {ir::kF32, {kBatch, wanted.queries, kHeads * kTerms}, {}});
  const ValueId k = builder.input("k", {ir::kF32, {kBatch, wanted.keys, groups * kTerms}, {}});
  const ValueId v = builder.input("v", {ir::kF32, {kBatch, groups, 1, wanted.keys, kTerms}, {}});
  const ValueId heads =
      *builder.add("reshape", {q}, {{"shape", Ints{kBatch, wanted.queries, groups, each, kTerms}}});
  const ValueId queries = *builder.add("transpose", {heads}, {{"perm", Ints{0, 2, 3, 1, 4}}});
  const ValueId apart =
      *builder.add("reshape", {k}, {{"shape", Ints{kBatch, wanted.keys, groups, 1, kTerms}}});
  const ValueId keys = *builder.add("transpose", {apart}, {{"perm", Ints{0, 2, 3, 4, 1}}});
  builder.rename(heads, "q.heads");
  builder.rename(apart, "k.heads");
  ValueId scores = *builder.add("matmul", {queries, keys});
  scores = *builder.add("mul", {scores, builder.constant(ops::scalar_constant(ir::kF32, 0.5))});
  if (wanted.masked) {
    const ValueId mask = builder.input("mask", {ir::kF32, {kBatch, 1, 1, 1, wanted.keys}, {}});
    scores = *builder.add("add", {scores, mask});
  }
  if (wanted.causal) {
    scores = *builder.add("band_mask", {scores}, {{"low", -wanted.queries}, {"high", 0L}});
  }
  ops::Attributes along{{"axis", std::int64_t{wanted.by_columns ? 3 : 4}}};
  if (wanted.zeroed) along["masked"] = std::int64_t{1};
  const ValueId weights = *builder.add("softmax", {scores}, along);
  const ValueId result = *builder.add("matmul", {weights, v});
  std::vector<ValueId> outputs{*builder.add("relu", {result})};
  if (wanted.shared) outputs.push_back(weights);
  return std::move(builder).finish(outputs);
}

std::vector<Group> groups_of(const Graph& graph) {
  std::vector<Group> groups = fuse(graph, find_pieces(graph));
  std::erase_if(groups, [&](const Group& group) {
    return group.nodes.size() == 1 && node_at(graph, group.last()).op == "reshape";
  });
  return groups;
}

TEST(Attention, IsOneTaskWithAllThatIsDoneToScores) {
  for (const bool grouped : {false, true}) {
    const Graph graph = model({.grouped = grouped, .masked = true});
    const auto groups = groups_of(graph);
    ASSERT_EQ(groups.size(), 1U);
    const auto task = make_task(graph, groups[0]);
    ASSERT_TRUE(task.ok()) << task.error().message;
    EXPECT_EQ(task->name, grouped ? "attention+relu 2x2x2x9x3" : "attention+relu 2x4x1x9x3");
    EXPECT_EQ(task->inputs.size(), 4U);
    EXPECT_EQ(task->op.flops, 2.0 * 2 * kBatch * kHeads * kQueries * kKeys * kTerms);
    EXPECT_TRUE(task->op.alternatives.empty());
  }
}

// Its softmax stays in f32 between products of 16 bits.
TEST(Attention, IsOneTaskInSixteenBits) {
  for (const bool causal : {false, true}) {
    const Graph wide = model({.masked = true, .causal = causal});
    const auto graph = optimise(wide, {.context = {.precision = ops::Precision::BF16}});
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    std::vector<std::string> names;
    for (const Group& group : groups_of(*graph)) {
      const auto task = make_task(*graph, group);
      ASSERT_TRUE(task.ok()) << task.error().message;
      names.push_back(task->name.substr(0, task->name.find(' ')));
      if (!names.back().starts_with("attention")) continue;
      EXPECT_EQ(task->op.program.find_stage("scores.output")->outputs[0]->type, ir::kF32);
      EXPECT_EQ(task->op.program.find_stage("output")->outputs[0]->type, ir::kF32);
    }
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names, (std::vector<std::string>{"attention+cast+relu", "cast", "cast", "cast"}));
  }
}

TEST(Attention, StaysApartWhereThatCostsNothingOrOthersLook) {
  EXPECT_GT(groups_of(model({.queries = 4})).size(), 1U);
  EXPECT_GT(groups_of(model({.shared = true})).size(), 1U);
  EXPECT_GT(groups_of(model({.by_columns = true})).size(), 1U);
}

// Element by element, in double precision.
std::vector<double> expected(bool grouped, const std::vector<ir::Array>& inputs) {
  const std::int64_t groups = grouped ? kGroups : kHeads;
  const ir::Array &q = inputs[0], &k = inputs[1], &mask = inputs[2], &v = inputs[3];
  std::vector<double> result;
  for (std::int64_t b = 0; b < kBatch; ++b) {
    for (std::int64_t h = 0; h < kHeads; ++h) {
      const std::int64_t g = h / (kHeads / groups);
      for (std::int64_t i = 0; i < kQueries; ++i) {
        double weights[kKeys], sum = 0;
        for (std::int64_t j = 0; j < kKeys; ++j) {
          double dot = 0;
          for (std::int64_t t = 0; t < kTerms; ++t) {
            dot += q.real(((b * kQueries + i) * kHeads + h) * kTerms + t) *
                   k.real(((b * kKeys + j) * groups + g) * kTerms + t);
          }
          weights[j] = std::exp(dot * 0.5 + mask.real(b * kKeys + j));
          sum += weights[j];
        }
        for (std::int64_t c = 0; c < kTerms; ++c) {
          double value = 0;
          for (std::int64_t j = 0; j < kKeys; ++j) {
            value += weights[j] * v.real(((b * groups + g) * kKeys + j) * kTerms + c);
          }
          result.push_back(std::max(0.0, value / sum));
        }
      }
    }
  }
  return result;
}

TEST(Attention, MeansWhatItsNodesMean) {
  for (const bool grouped : {false, true}) {
    const Graph graph = model({.grouped = grouped, .masked = true});
    const auto task = make_task(graph, groups_of(graph)[0]);
    ASSERT_TRUE(task.ok()) << task.error().message;
    std::map<std::string, ir::Array> tensors;
    std::vector<ir::Array> inputs;
    int number = 0;
    for (std::size_t i = 0; i < task->inputs.size(); ++i) {
      const ir::Buffer& buffer = task->op.program.inputs[i].buffer;
      ir::Array array(buffer->type, buffer->shape);
      for (std::int64_t n = 0; n < array.count(); ++n) {
        array.set_real(n, std::sin(0.7 * ++number));
      }
      tensors.emplace(graph.value(task->inputs[i]).name, array);
      inputs.push_back(std::move(array));
    }
    const auto computed = ir::interpret(task->op.program, inputs);
    ASSERT_TRUE(computed.ok()) << computed.error().message;
    const std::vector<double> wanted = expected(
        grouped,
        {tensors.at("q.heads"), tensors.at("k.heads"), tensors.at("mask"), tensors.at("v")});
    ASSERT_EQ(static_cast<std::size_t>((*computed)[0].count()), wanted.size());
    for (std::size_t n = 0; n < wanted.size(); ++n) {
      EXPECT_NEAR((*computed)[0].real(static_cast<std::int64_t>(n)), wanted[n], 1e-5) << n;
    }
  }
}

// Where the keys that count are known by their place, each stage says so; whole rows and rows in
// parts mean the same as the nodes.
TEST(Attention, KnowsWhichKeysCount) {
  constexpr std::int64_t kMany = 1030;
  for (const std::int64_t keys : {kKeys, kMany}) {
    const Graph graph = model({.keys = keys, .causal = true});
    const Graph all = model({.keys = keys});
    const auto groups = groups_of(graph);
    ASSERT_EQ(groups.size(), 1U);
    const auto task = make_task(graph, groups[0]), plain = make_task(all, groups_of(all)[0]);
    ASSERT_TRUE(task.ok()) << task.error().message;
    ASSERT_TRUE(plain.ok()) << plain.error().message;
    double seen = 0;
    for (std::int64_t i = 0; i < kQueries; ++i) seen += static_cast<double>(std::min(i + 1, keys));
    EXPECT_NEAR(task->op.flops / plain->op.flops, seen / static_cast<double>(kQueries * keys),
                1e-9);
    ASSERT_EQ(task->op.alternatives.size(), keys == kMany ? 1U : 0U);
    std::vector<ir::Array> inputs;
    int number = 0;
    for (const ir::Input& input : task->op.program.inputs) {
      inputs.emplace_back(input.buffer->type, input.buffer->shape);
      for (std::int64_t n = 0; n < inputs.back().count(); ++n) {
        inputs.back().set_real(n, std::sin(0.7 * ++number));
      }
    }
    std::vector<const ir::Program*> programs{&task->op.program};
    for (const auto& other : task->op.alternatives) programs.push_back(&other.program);
    std::vector<std::vector<ir::Array>> results;
    for (const ir::Program* program : programs) {
      for (const char* name : {"weights.max", "weights.exp", "weights.sum", "anchor"}) {
        EXPECT_NE(ir::as<ir::Select>(program->find_stage(name)->values[0]), nullptr) << name;
      }
      auto computed = ir::interpret(*program, inputs);
      ASSERT_TRUE(computed.ok()) << computed.error().message;
      results.push_back(std::move(*computed));
    }
    // The first query sees the first key alone: its result is the value of that key.
    const auto named = std::find_if(task->inputs.begin(), task->inputs.end(),
                                    [&](ValueId id) { return graph.value(id).name == "v"; });
    const ir::Array& values = inputs[static_cast<std::size_t>(named - task->inputs.begin())];
    for (std::int64_t b = 0; b < kBatch * kHeads; ++b) {
      for (std::int64_t c = 0; c < kTerms; ++c) {
        const double value = std::max(0.0, values.real((b * keys) * kTerms + c));
        for (const auto& result : results) {
          EXPECT_NEAR(result[0].real((b * kQueries) * kTerms + c), value, 1e-5) << b << " " << c;
        }
      }
    }
    for (const auto& result : results) {
      for (std::int64_t n = 0; n < result[0].count(); ++n) {
        EXPECT_NEAR(result[0].real(n), results[0][0].real(n), 1e-5) << n;
      }
    }
  }
}

// Whole rows and rows in parts alike, where the mask of the first batch excludes everything and
// that of the second a part of a row.
TEST(Attention, IsZeroWhereTheMaskExcludesAllKeys) {
  constexpr std::int64_t kMany = 1024, kSeen = 3;
  const Graph graph = model({.masked = true, .zeroed = true, .keys = kMany});
  const auto task = make_task(graph, groups_of(graph)[0]);
  ASSERT_TRUE(task.ok()) << task.error().message;
  ASSERT_EQ(task->op.alternatives.size(), 1U);
  std::vector<ir::Array> inputs;
  for (std::size_t i = 0; i < task->inputs.size(); ++i) {
    const ir::Buffer& buffer = task->op.program.inputs[i].buffer;
    ir::Array array(buffer->type, buffer->shape);
    const bool is_mask = graph.value(task->inputs[i]).name == "mask";
    for (std::int64_t n = 0; n < array.count(); ++n) {
      const bool seen = n >= kMany && n < kMany + kSeen;
      array.set_real(n, is_mask && !seen ? -INFINITY : is_mask ? 0 : 1);
    }
    inputs.push_back(std::move(array));
  }
  for (const ir::Program* program : {&task->op.program, &task->op.alternatives[0].program}) {
    const auto computed = ir::interpret(*program, inputs);
    ASSERT_TRUE(computed.ok()) << computed.error().message;
    const std::int64_t count = (*computed)[0].count();
    for (std::int64_t n = 0; n < count; ++n) {
      EXPECT_EQ((*computed)[0].real(n), n < count / 2 ? 0.0 : 1.0) << program->name << " " << n;
    }
  }
}

}  // namespace
}  // namespace attune::graph

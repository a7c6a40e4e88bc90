#include "compiler/graph/passes/rewriter.h"

#include <gtest/gtest.h>

#include "compiler/graph/builder.h"
#include "compiler/graph/passes/interpret_testing.h"

namespace attune::graph {
namespace {

const TensorType kRow{ir::kF32, {4}, {}};

// y = (x + 1) * 2, z = x + 1
Graph sample() {
  Builder builder("sample");
  const ValueId x = builder.input("x", kRow);
  const ValueId one = builder.constant(ops::scalar_constant(ir::kF32, 1), "one");
  const ValueId two = builder.constant(ops::scalar_constant(ir::kF32, 2), "two");
  const ValueId sum = *builder.add("add", {x, one});
  const ValueId product = *builder.add("mul", {sum, two});
  builder.rename(sum, "z");
  builder.rename(product, "y");
  return std::move(builder).finish({product, sum});
}

TEST(Rewriter, KeepsAGraphThatNothingChanges) {
  const Graph graph = sample();
  EXPECT_EQ(to_string(Rewriter(graph).finish()), to_string(graph));
}

TEST(Rewriter, ReplacesValuesAndErasesWhatIsUnused) {
  const Graph graph = sample();
  Rewriter rewriter(graph);
  const ValueId y = graph.outputs[0], x = graph.inputs[0];
  const ValueId twice = rewriter.add("add", {x, x}, {}, "twice");
  EXPECT_TRUE(rewriter.replace(y, twice));
  EXPECT_FALSE(rewriter.alive(1));
  EXPECT_EQ(to_string(std::move(rewriter).finish()),
            "graph sample\n"
            "  input %x : f32[4]\n"
            "  %z = add(%x, %one) {} : f32[4]\n"
            "  %y = add(%x, %x) {} : f32[4]\n"
            "  return %y, %z\n");
}

TEST(Rewriter, KeepsOutputsThatAnInputCannotStandFor) {
  const Graph graph = sample();
  Rewriter rewriter(graph);
  const ValueId z = graph.outputs[1];
  EXPECT_TRUE(rewriter.replace(z, graph.inputs[0]));   // y reads x now
  EXPECT_FALSE(rewriter.replace(z, graph.inputs[0]));  // z itself has to be computed
  EXPECT_EQ(to_string(std::move(rewriter).finish()),
            "graph sample\n"
            "  input %x : f32[4]\n"
            "  %z = add(%x, %one) {} : f32[4]\n"
            "  %y = mul(%x, %two) {} : f32[4]\n"
            "  return %y, %z\n");
}

TEST(Rewriter, PutsAddedNodesBeforeTheirReaders) {
  const Graph graph = sample();
  Rewriter rewriter(graph);
  const ValueId x = graph.inputs[0], z = graph.outputs[1];
  const ValueId square = rewriter.add("mul", {x, x}, {}, "square");
  const Node& product = rewriter.node(1);
  rewriter.update(1, {square, product.inputs[1]}, product.attributes);
  EXPECT_TRUE(rewriter.users(z).empty());
  EXPECT_EQ(to_string(std::move(rewriter).finish()),
            "graph sample\n"
            "  input %x : f32[4]\n"
            "  %z = add(%x, %one) {} : f32[4]\n"
            "  %square = mul(%x, %x) {} : f32[4]\n"
            "  %y = mul(%square, %two) {} : f32[4]\n"
            "  return %y, %z\n");
}

TEST(Rewriter, ComputesSmallConstantsAtOnce) {
  Rewriter rewriter(sample());
  const ValueId three = rewriter.add_constant(ops::scalar_constant(ir::kF32, 3), "three");
  const ValueId nine = rewriter.add("mul", {three, three}, {}, "nine");
  ASSERT_NE(rewriter.constant_of(nine), nullptr);
  EXPECT_EQ(rewriter.constant_of(nine)->real(0), 9);
}

TEST(Difference, SeesWhatChanged) {
  const Graph graph = sample();
  EXPECT_EQ(difference(graph, graph), "");
  Graph other = graph;
  other.nodes[1].op = "add";
  EXPECT_NE(difference(graph, other), "");
}

}  // namespace
}  // namespace attune::graph

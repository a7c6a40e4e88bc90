#include <gtest/gtest.h>

#include "compiler/graph/passes/interpret_testing.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

using Shape = std::vector<std::int64_t>;

TensorType f32(Shape shape) { return {ir::kF32, std::move(shape), {}}; }

struct Geometry {
  Shape kernel, strides, pads, dilations;
  std::int64_t group = 1;
};

Graph convolution(const Shape& data, const Geometry& geometry, bool has_bias) {
  Builder builder("deep");
  const ValueId x = builder.input("x", f32(data));
  Shape weight{4, data[1] / geometry.group};
  weight.insert(weight.end(), geometry.kernel.begin(), geometry.kernel.end());
  std::vector<ValueId> inputs{x, builder.constant(random_constant(f32(weight), 1))};
  if (has_bias) inputs.push_back(builder.constant(random_constant(f32({4}), 2)));
  const auto y = builder.add("conv", inputs,
                             {{"kernel_shape", geometry.kernel},
                              {"strides", geometry.strides},
                              {"pads", geometry.pads},
                              {"dilations", geometry.dilations},
                              {"group", geometry.group}});
  EXPECT_TRUE(y.ok());
  return std::move(builder).finish({*y});
}

// The rank of the data that the convolution of a flattened graph reads; checks that it means the
// same.
std::size_t rank_after(const Graph& graph) {
  const auto after = flatten_depth(graph, {});
  EXPECT_TRUE(after.ok());
  EXPECT_EQ(difference(graph, *after), "");
  for (const Node& node : after->nodes) {
    if (node.op == "conv") return after->value(node.inputs[0]).type.shape.size();
  }
  return 0;
}

TEST(FlattenDepth, TurnsSlicesIntoChannels) {
  const Geometry geometry{{3, 3, 3}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, {1, 1, 1}};
  EXPECT_EQ(rank_after(convolution({2, 3, 4, 5, 6}, geometry, true)), 4u);
}

TEST(FlattenDepth, KnowsStridesDilationsAndUnevenPads) {
  const Geometry geometry{{2, 3, 1}, {2, 1, 3}, {1, 0, 2, 0, 1, 0}, {2, 1, 1}};
  EXPECT_EQ(rank_after(convolution({1, 2, 7, 5, 6}, geometry, false)), 4u);
}

TEST(FlattenDepth, NeedsNoConcatenationForOneSlice) {
  const Geometry geometry{{1, 2, 2}, {1, 2, 2}, {0, 0, 0, 0, 0, 0}, {1, 1, 1}};
  const Graph graph = convolution({1, 2, 3, 4, 4}, geometry, false);
  EXPECT_EQ(rank_after(graph), 4u);
  const auto after = flatten_depth(graph, {});
  for (const Node& node : after->nodes) EXPECT_NE(node.op, "concat");
}

TEST(FlattenDepth, LeavesGroupsAndImagesAlone) {
  const Geometry grouped{{1, 1, 1}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}, {1, 1, 1}, 2};
  EXPECT_EQ(rank_after(convolution({1, 4, 2, 3, 3}, grouped, false)), 5u);
  const Geometry flat{{3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}};
  EXPECT_EQ(rank_after(convolution({1, 4, 5, 5}, flat, false)), 4u);
}

}  // namespace
}  // namespace attune::graph

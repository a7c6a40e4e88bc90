#include "compiler/frontend/onnx/shape_converters.h"

#include <gtest/gtest.h>

#include "compiler/frontend/onnx/model_testing.h"
#include "compiler/frontend/onnx/resize_tables.h"

namespace attune::onnx {
namespace {

// The nodes of the imported graph, without its frame.
std::string nodes_of(ModelForTest& model) {
  const auto graph = model.import();
  if (!graph.ok()) return graph.error().message;
  const std::string text = graph::to_string(*graph);
  const std::size_t first = text.find("  %");
  return text.substr(first, text.find("  return") - first);
}

TEST(Movement, SlicesAsNumpyDoes) {
  ModelForTest model;
  model.input("x", {"5", "4"}).output("y");
  model.integers("starts", {-1, 99}).integers("ends", {-99, -99});
  model.integers("axes", {0, 1}).integers("steps", {-2, -1});
  model.node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"}, "cut");
  EXPECT_EQ(nodes_of(model),
            "  %y = slice(%x) {shape=[3,4], starts=[4,3], steps=[-2,-1]} : f32[3,4]\n");
}

TEST(Movement, SplitsIntoUnequalParts) {
  ModelForTest model;
  model.input("x", {"5"}).output("a").output("b").output("c");
  ::onnx::NodeProto& node = model.node("Split", {"x"}, {"a", "b", "c"}, "split");
  set_attribute(node, "num_outputs", std::int64_t{3});
  EXPECT_EQ(nodes_of(model),
            "  %a = slice(%x) {shape=[2], starts=[0], steps=[1]} : f32[2]\n"
            "  %b = slice(%x) {shape=[2], starts=[2], steps=[1]} : f32[2]\n"
            "  %c = slice(%x) {shape=[1], starts=[4], steps=[1]} : f32[1]\n");
}

TEST(Movement, ReshapeSaysWhatDoesNotFit) {
  ModelForTest model;
  model.input("x", {"2", "3"}).output("y").integers("shape", {4, -1});
  model.node("Reshape", {"x", "shape"}, {"y"}, "r");
  EXPECT_EQ(model.error(), "node 'r' (Reshape): f32[2,3] cannot be reshaped to [4,1]");
  ModelForTest two;
  two.input("x", {"2", "3"}).output("y").integers("shape", {-1, -1});
  two.node("Reshape", {"x", "shape"}, {"y"}, "r");
  EXPECT_EQ(two.error(), "node 'r' (Reshape): [-1,-1] is no shape");
}

TEST(Search, TakesAsManyAsAnInputSays) {
  ModelForTest model;
  model.input("x", {"2", "7"}).input("k", {"1"}, ::onnx::TensorProto::INT64);
  model.output("values").output("places");
  model.node("TopK", {"x", "k"}, {"values", "places"}, "top");
  EXPECT_EQ(nodes_of(model),
            "  %values, %places = top_k(%x, %k) {axis=1, extent=0, k=7, largest=1, sorted=1} : "
            "f32[2,<=7], i64[2,<=7]\n");
}

TEST(Windows, PadsAreWrittenOut) {
  ModelForTest model;
  model.input("x", {"1", "1", "5", "5"}).output("y");
  ::onnx::NodeProto& node = model.node("MaxPool", {"x"}, {"y"}, "pool");
  set_attribute(node, "kernel_shape", std::vector<std::int64_t>{2, 2});
  set_attribute(node, "strides", std::vector<std::int64_t>{2, 2});
  set_attribute(node, "ceil_mode", std::int64_t{1});
  EXPECT_EQ(nodes_of(model),
            "  %y = max_pool(%x) {dilations=[1,1], kernel_shape=[2,2], pads=[0,0,1,1], "
            "strides=[2,2]} : f32[1,1,3,3]\n");
}

TEST(Resize, WholeFactorsRepeat) {
  ModelForTest model;
  model.input("x", {"1", "1", "2", "3"}).output("y").reals("scales", {4}, {1, 1, 2, 2});
  ::onnx::NodeProto& node = model.node("Resize", {"x", "", "scales"}, {"y"}, "up");
  set_attribute(node, "coordinate_transformation_mode", std::string("asymmetric"));
  set_attribute(node, "nearest_mode", std::string("floor"));
  EXPECT_EQ(nodes_of(model),
            "  %up = repeat(%x) {repeats=[1,1,2,1]} : f32[1,1,4,3]\n"
            "  %y = repeat(%up) {repeats=[1,1,1,2]} : f32[1,1,4,6]\n");
}

TEST(Resize, WeightsOfLinearAndCubic) {
  const ResizeTable linear = resize_table({.mode = "linear"}, {2, 4, 2, 0, 1});
  EXPECT_EQ(linear.taps, 2);
  EXPECT_EQ(linear.places, (std::vector<std::int64_t>{0, 0, 0, 1, 0, 1, 1, 1}));
  EXPECT_EQ(linear.weights, (std::vector<double>{0.25, 0.75, 0.75, 0.25, 0.25, 0.75, 0.75, 0.25}));
  for (const bool exclude : {false, true}) {
    const ResizeTable cubic =
        resize_table({.mode = "cubic", .exclude_outside = exclude}, {4, 3, 0.75, 0, 1});
    for (std::size_t i = 0; i < 3; ++i) {
      double sum = 0;
      for (std::size_t tap = 0; tap < 4; ++tap) sum += cubic.weights[4 * i + tap];
      EXPECT_NEAR(sum, 1, 1e-12);
    }
  }
}

TEST(Resize, OpenScalesNeedAStatedShape) {
  ModelForTest model;
  model.input("x", {"1", "2"}).input("scales", {"2"}).output("y");
  model.node("Resize", {"x", "", "scales"}, {"y"}, "up");
  EXPECT_EQ(model.error(),
            "node 'up' (Resize): input 'scales' ('scales') must be known when the model is "
            "compiled, but depends on input 'scales' of the model");
  auto& stated = *model.proto().mutable_graph()->mutable_output(0)->mutable_type();
  for (const int extent : {1, 4}) {
    stated.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(extent);
  }
  const auto graph = model.import();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(ops::to_string(graph->value(graph->outputs[0]).type), "f32[1,4]");
  // Scales that give another shape are refused when the model runs.
  EXPECT_NE(graph::to_string(*graph).find(" = require("), std::string::npos);
}

TEST(Slice, OfKnownSizeAtAnOpenPlace) {
  ModelForTest model;
  model.input("x", {"7", "2"}).input("i", {"1"}, ::onnx::TensorProto::INT64).output("y");
  model.integers("two", {2}).integers("axis", {0});
  model.node("Add", {"i", "two"}, {"end"});
  model.node("Slice", {"x", "i", "end", "axis"}, {"y"}, "cut");
  const auto graph = model.import();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(graph->nodes.back().op, "gather");
  EXPECT_EQ(ops::to_string(graph->value(graph->outputs[0]).type), "f32[2,2]");
}

TEST(Slice, OfOpenSizeIsBounded) {
  ModelForTest model;
  model.input("x", {"7", "2"}).input("end", {"1"}, ::onnx::TensorProto::INT64).output("y");
  model.integers("zero", {0});
  model.node("Slice", {"x", "zero", "end"}, {"y"}, "cut");
  const auto graph = model.import();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(ops::to_string(graph->value(graph->outputs[0]).type), "f32[<=7,2]");
}

TEST(Gather, OnePlaceIsASlice) {
  ModelForTest model;
  model.input("x", {"3", "2"}).output("y").integers("i", {-1});
  model.node("Gather", {"x", "i"}, {"y"}, "row");
  EXPECT_EQ(nodes_of(model),
            "  %y = slice(%x) {shape=[1,2], starts=[2,0], steps=[1,1]} : f32[1,2]\n");
}

}  // namespace
}  // namespace attune::onnx

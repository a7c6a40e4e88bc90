// Sizes that follow from inputs of the model, which are known at run time and at most so large.
#include "compiler/frontend/onnx/bounds.h"

#include <gtest/gtest.h>

#include "compiler/frontend/onnx/model_testing.h"

namespace attune::onnx {
namespace {

constexpr int kI64 = ::onnx::TensorProto::INT64;

// The type of the first output, or why there is none.
std::string result_of(ModelForTest& model, const ImportOptions& options = {}) {
  const auto graph = model.import(options);
  if (!graph.ok()) return graph.error().message + " | " + graph.error().hint;
  return ops::to_string(graph->value(graph->outputs[0]).type);
}

TEST(Bounds, AreThoseOfTheCaller) {
  ModelForTest model;
  model.input("shape", {"2"}, kI64).output("y");
  model.node("ConstantOfShape", {"shape"}, {"y"}, "fill");
  EXPECT_EQ(
      result_of(model),
      "node 'fill' (ConstantOfShape): input 'input' ('shape') must be known when the model is "
      "compiled, but depends on input 'shape' of the model | give it a value: --constant "
      "shape=VALUE, or say how large it can be: --max shape=N");
  EXPECT_EQ(result_of(model, {.maxima = {{"shape", {7}}}}), "f32[<=7,<=7]");
  EXPECT_EQ(result_of(model, {.maxima = {{"shape", {7, 9}}}}), "f32[<=7,<=9]");
}

TEST(Bounds, AreOfWholeNumbersThatAreThere) {
  ModelForTest model;
  model.input("x", {"2"}).input("k", {"3"}, kI64).output("y");
  model.node("Identity", {"x"}, {"y"}, "same");
  EXPECT_EQ(
      result_of(model, {.maxima = {{"x", {7}}}}),
      "input 'x' is f32[2], and 1 largest values are given for it | give one for all elements, "
      "or one for each, of an input with whole numbers");
  EXPECT_EQ(result_of(model, {.maxima = {{"k", {7, 8}}}}).substr(0, 28),
            "input 'k' is i64[3], and 2 l");
  EXPECT_EQ(result_of(model, {.maxima = {{"z", {7}}}}),
            "the model has no input 'z' | its inputs are x, k");
}

TEST(Bounds, FollowWhatTheModelComputes) {
  ModelForTest model;
  model.input("k", {"1"}, kI64).output("y");
  model.integers("two", {2}).integers("three", {3}).integers("places", {1, 0});
  model.node("Mul", {"k", "two"}, {"double"});
  model.node("Add", {"double", "three"}, {"more"});
  model.node("Div", {"more", "two"}, {"half"});
  model.node("Concat", {"half", "three"}, {"row"});
  set_attribute(*model.proto().mutable_graph()->mutable_node(3), "axis", std::int64_t{0});
  model.node("Gather", {"row", "places"}, {"turned"});
  model.node("ConstantOfShape", {"turned"}, {"y"});
  EXPECT_EQ(result_of(model, {.maxima = {{"k", {10}}}}), "f32[3,<=11]");
}

// A minimum bounds whatever it is taken of.
TEST(Bounds, FollowFromOtherShapes) {
  ModelForTest model;
  model.input("x", {"5", "4"}).input("k", {"1"}, kI64).output("y");
  model.integers("first", {0});
  model.node("Shape", {"x"}, {"shape"});
  model.node("Gather", {"shape", "first"}, {"rows"});
  model.node("Min", {"k", "rows"}, {"size"});
  model.node("ConstantOfShape", {"size"}, {"y"});
  EXPECT_EQ(result_of(model), "f32[<=5]");
}

TEST(Bounds, OfTopKAreNoMoreThanThereIs) {
  ModelForTest model;
  model.input("x", {"2", "7"}).input("k", {"1"}, kI64).output("values").output("places");
  model.node("TopK", {"x", "k"}, {"values", "places"}, "top");
  EXPECT_EQ(result_of(model, {.maxima = {{"k", {3}}}}), "f32[2,<=3]");
  EXPECT_EQ(result_of(model, {.maxima = {{"k", {30}}}}), "f32[2,<=7]");
}

TEST(Bounds, OfExpandTileAndRange) {
  const ImportOptions three{.maxima = {{"k", {3}}}};
  ModelForTest expand;
  expand.input("x", {"4", "1"}).input("k", {"3"}, kI64).output("y");
  expand.node("Expand", {"x", "k"}, {"y"});
  EXPECT_EQ(result_of(expand, three), "f32[<=3,4,<=3]");
  ModelForTest tile;
  tile.input("x", {"4", "5"}).input("k", {"2"}, kI64).output("y");
  tile.node("Tile", {"x", "k"}, {"y"});
  EXPECT_EQ(result_of(tile, three), "f32[<=12,<=15]");
  ModelForTest range;
  range.input("k", {}, kI64).output("y").integers("zero", {0}).integers("one", {1});
  range.node("Squeeze", {"zero"}, {"start"});
  range.node("Squeeze", {"one"}, {"delta"});
  range.node("Range", {"start", "k", "delta"}, {"y"});
  EXPECT_EQ(result_of(range, three), "i64[<=3]");
}

TEST(Bounds, OfResizedImages) {
  ModelForTest model;
  model.input("x", {"1", "3", "4", "5"}).input("size", {"2"}, kI64).output("y");
  model.integers("front", {1, 3});
  ::onnx::NodeProto& join = model.node("Concat", {"front", "size"}, {"sizes"});
  set_attribute(join, "axis", std::int64_t{0});
  model.node("Resize", {"x", "", "", "sizes"}, {"y"}, "resize");
  EXPECT_EQ(result_of(model, {.maxima = {{"size", {8, 16}}}}), "f32[1,3,<=8,<=16]");
}

}  // namespace
}  // namespace attune::onnx

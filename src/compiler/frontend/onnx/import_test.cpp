#include "compiler/frontend/onnx/import.h"

#include <gtest/gtest.h>

#include "compiler/frontend/onnx/model_testing.h"

namespace attune::onnx {
namespace {

TEST(Import, KeepsNamesOfInputsAndOutputs) {
  ModelForTest model;
  model.input("x", {"2", "3"}).input("unused", {"1"}).output("y").output("same").output("n");
  model.node("Identity", {"x"}, {"y"}, "y");
  model.node("Identity", {"y"}, {"same"});
  model.node("Size", {"x"}, {"n"});
  const auto graph = model.import();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(graph::to_string(*graph),
            "graph test\n"
            "  input %x : f32[2,3]\n"
            "  input %unused : f32[1]\n"
            "  %y = identity(%x) {} : f32[2,3]\n"
            "  %same = identity(%x) {} : f32[2,3]\n"
            "  return %y, %same, %n\n");
  EXPECT_EQ(graph->value(graph->outputs[2]).constant->integer(0), 6);
}

TEST(Import, GivesOutputsThatAreNamedTwiceNamesOfTheirOwn) {
  ModelForTest model;
  model.input("x", {"2"}).output("y").output("y").output("y.2").output("y");
  model.node("Neg", {"x"}, {"y"});
  model.node("Abs", {"x"}, {"y.2"});
  const auto graph = model.import();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  std::vector<std::string> names;
  for (const graph::ValueId output : graph->outputs) names.push_back(graph->value(output).name);
  EXPECT_EQ(names, (std::vector<std::string>{"y", "y.3", "y.2", "y.4"}));
}

TEST(Import, ResolvesSymbolsAcrossInputs) {
  ModelForTest model;
  model.input("a", {"N", "3"}).input("b", {"N"}).output("y");
  model.node("Identity", {"b"}, {"y"});
  ImportOptions options;
  options.shapes["a"] = {5, 3};
  const auto graph = model.import(options);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(ops::to_string(graph->value(graph->outputs[0]).type), "f32[5]");
  options.shapes["b"] = {4};
  EXPECT_EQ(ops::to_string(model.import(options)->value(1).type), "f32[4]");
  model.input("c", {"N"});
  EXPECT_EQ(model.error(options), "dimension 0 of input 'c' is the symbol 'N', which has no value");
}

TEST(Import, NamesTheShapeThatIsMissing) {
  ModelForTest model;
  model.input("a", {"N", "3", "?"}).output("y");
  model.node("Identity", {"a"}, {"y"});
  const auto graph = model.import();
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().message,
            "dimension 0 of input 'a' is the symbol 'N', which has no value");
  EXPECT_EQ(graph.error().hint, "give the shape: --shape a=N,3,?, with numbers throughout");
  ImportOptions options;
  options.shapes["a"] = {1, 3};
  EXPECT_EQ(model.error(options),
            "input 'a' has 3 dimensions, the shape given for it, [1,3], has 2");
  options.shapes["a"] = {1, 4, 1};
  EXPECT_EQ(model.error(options), "dimension 1 of input 'a' is 3 in the model, not 4");
  options.shapes = {{"b", {1}}};
  EXPECT_EQ(model.error(options), "the model has no input 'b'");
}

TEST(Import, RefusesShapesThatAreNoneOrTooLarge) {
  ModelForTest zero;
  zero.input("a", {"0"}).output("y");
  zero.node("Identity", {"a"}, {"y"});
  EXPECT_EQ(zero.error(), "dimension 0 of input 'a' is 0, must be positive");
  ModelForTest large;
  large.input("a", {"1099511627776", "1099511627776"}).output("y");
  large.node("Identity", {"a"}, {"y"});
  EXPECT_EQ(large.error(), "input 'a' of shape [1099511627776,1099511627776] is too large");
}

TEST(Import, ListsAllThatIsUnsupportedAtOnce) {
  ModelForTest model;
  model.input("x", {"2"}).output("y");
  model.node("Frobnicate", {"x"}, {"a"}, "first");
  model.node("Frobnicate", {"a"}, {"b"});
  model.node("Frobnicate", {"b"}, {"c"}, "third");
  set_attribute(model.node("Identity", {"c"}, {"y"}, "odd"), "power", std::int64_t{3});
  EXPECT_EQ(model.error(),
            "4 nodes of the model are not supported: Frobnicate ('first', 'b' and 1 more); "
            "attribute 'power' of Identity ('odd')");
}

TEST(Import, SortsNodesAndNamesCycles) {
  ModelForTest model;
  model.input("x", {"2"}).output("y");
  model.node("Identity", {"a"}, {"y"}, "last");
  model.node("Identity", {"x"}, {"a"}, "first");
  EXPECT_EQ(model.error(), "ok");
  ModelForTest cyclic;
  cyclic.input("x", {"2"}).output("y");
  cyclic.node("Identity", {"b"}, {"a"}, "one");
  cyclic.node("Identity", {"a"}, {"b"}, "two");
  cyclic.node("Identity", {"b"}, {"y"}, "three");
  EXPECT_EQ(cyclic.error(),
            "the graph has a cycle: node 'one' (Identity) needs node 'two' (Identity)");
}

TEST(Import, NamesWhatIsMissingOrThereTwice) {
  ModelForTest missing;
  missing.input("x", {"2"}).output("y");
  missing.node("Identity", {"w"}, {"y"}, "reader");
  EXPECT_EQ(missing.error(), "node 'reader' (Identity): it reads 'w', which nothing computes");
  ModelForTest twice;
  twice.input("x", {"2"}).output("y");
  twice.node("Identity", {"x"}, {"y"}, "one");
  twice.node("Identity", {"x"}, {"y"}, "two");
  EXPECT_EQ(twice.error(),
            "'y' is computed twice, by node 'one' (Identity) and node 'two' (Identity)");
  ModelForTest nothing;
  nothing.input("x", {"2"}).output("z");
  EXPECT_EQ(nothing.error(), "output 'z' is never computed");
}

TEST(Import, InlinesFunctionsWithTheirAttributes) {
  ModelForTest model;
  model.input("x", {"2", "7"}).output("y");
  ::onnx::NodeProto& call = model.node("Extent", {"x"}, {"y"}, "call");
  call.set_domain("own");
  set_attribute(call, "from", std::int64_t{1});
  ::onnx::FunctionProto& function = *model.proto().add_functions();
  function.set_domain("own");
  function.set_name("Extent");
  function.add_input("value");
  function.add_output("result");
  function.add_attribute("from");
  ::onnx::NodeProto& inside = *function.add_node();
  inside.set_op_type("Shape");
  inside.add_input("value");
  inside.add_output("result");
  ::onnx::AttributeProto& start = *inside.add_attribute();
  start.set_name("start");
  start.set_type(::onnx::AttributeProto::INT);
  start.set_ref_attr_name("from");
  const auto graph = model.import();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(ops::integers(*graph->value(graph->outputs[0]).constant),
            (std::vector<std::int64_t>{7}));
  // A function that calls itself ends.
  inside.set_op_type("Extent");
  inside.set_domain("own");
  EXPECT_NE(model.error().find("functions call each other more than 100 deep"), std::string::npos);
}

TEST(Import, SaysWhichInputMustBeConstant) {
  ModelForTest model;
  model.input("x", {"2"}, ::onnx::TensorProto::INT64).output("y");
  model.node("Identity", {"x"}, {"shape"});
  model.node("ConstantOfShape", {"shape"}, {"y"}, "fill");
  ImportReport report;
  const auto graph = model.import({}, &report);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(
      graph.error().message,
      "node 'fill' (ConstantOfShape): input 'input' ('shape') must be known when the model is "
      "compiled, but depends on input 'x' of the model");
  EXPECT_EQ(report.needed_constants, (std::vector<std::string>{"x"}));
  ImportOptions options;
  options.constants["x"] = ops::make_constant({3, 4});
  const auto bound = model.import(options);
  ASSERT_TRUE(bound.ok()) << bound.error().message;
  EXPECT_EQ(ops::to_string(bound->value(bound->outputs[0]).type), "f32[3,4]");
}

// A few bytes that ask for gigabytes.
TEST(Import, MakesNoLargeConstants) {
  ModelForTest filled;
  filled.output("y").integers("shape", {1 << 14, 1 << 14});
  filled.node("ConstantOfShape", {"shape"}, {"y"}, "fill");
  const auto graph = filled.import();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(graph->value(graph->outputs[0]).constant, nullptr);
  ModelForTest eye;
  eye.input("x", {"65536", "65536"}).output("y");
  eye.node("EyeLike", {"x"}, {"y"}, "eye");
  EXPECT_EQ(eye.error(),
            "node 'eye' (EyeLike): a constant f32[65536,65536] that is not in the file would take "
            "too much memory");
}

// Each by itself may be made, but not all of them: copies count, and what converters make.
TEST(Import, MakesNoMoreConstantsThanTheyMayTakeInAll) {
  ModelForTest turned;
  turned.input("x", {"4096", "4096"}).output("y7");
  turned.node("EyeLike", {"x"}, {"y0"}, "eye");
  for (int i = 0; i < 7; ++i) {
    turned.node("Transpose", {"y" + std::to_string(i)}, {"y" + std::to_string(i + 1)});
  }
  const auto graph = turned.import();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(graph->value(graph->outputs[0]).constant, nullptr);
  EXPECT_LT(graph->nodes.size(), 7u) << "some were folded";

  ModelForTest counted;
  counted.input("start", {}, ::onnx::TensorProto::INT64).output("y");
  counted.integers("size", {1 << 30}).integers("delta", {1});
  counted.node("Squeeze", {"size"}, {"length"});
  counted.node("Squeeze", {"delta"}, {"one"});
  counted.node("Add", {"start", "length"}, {"end"});
  counted.node("Range", {"start", "end", "one"}, {"y"}, "steps");
  EXPECT_EQ(counted.error(),
            "node 'steps' (Range): a constant i64[1073741824] that is not in the file would take "
            "too much memory");
}

TEST(Import, TakesTenThousandNodes) {
  ModelForTest model;
  model.input("x0", {"2"}).output("x10000");
  for (int i = 0; i < 10000; ++i) {
    model.node("Identity", {"x" + std::to_string(i)}, {"x" + std::to_string(i + 1)});
  }
  EXPECT_EQ(model.error(), "ok");
}

}  // namespace
}  // namespace attune::onnx

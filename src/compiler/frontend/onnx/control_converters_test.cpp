// If and Loop; what they compute is judged by ONNX's own cases.
#include <gtest/gtest.h>

#include "compiler/frontend/onnx/model_testing.h"

namespace attune::onnx {
namespace {

void add_value(::google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto>& list,
               const std::string& name) {
  list.Add()->set_name(name);
}

void add_node(::onnx::GraphProto& graph, const std::string& op, std::vector<std::string> inputs,
              const std::string& output) {
  ::onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(op);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
}

// y = if c then transpose(x) else x, with x of `shape`.
ModelForTest branches(const std::vector<std::string>& shape, bool known) {
  ModelForTest model;
  model.input("x", shape).output("y");
  if (known) {
    ::onnx::TensorProto& c = *model.proto().mutable_graph()->add_initializer();
    c.set_name("c");
    c.set_data_type(::onnx::TensorProto::BOOL);
    c.add_int32_data(1);
  } else {
    model.input("c", {}, ::onnx::TensorProto::BOOL);
  }
  ::onnx::NodeProto& node = model.node("If", {"c"}, {"y"}, "choose");
  ::onnx::GraphProto& yes = graph_attribute(node, "then_branch");
  add_node(yes, "Transpose", {"x"}, "turned");
  add_value(*yes.mutable_output(), "turned");
  ::onnx::GraphProto& no = graph_attribute(node, "else_branch");
  add_node(no, "Identity", {"x"}, "same");
  add_value(*no.mutable_output(), "same");
  return model;
}

TEST(If, TakesTheBranchThatIsKnown) {
  ModelForTest model = branches({"2", "3"}, true);
  const auto graph = model.import();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(graph->nodes.size(), 1u);
  EXPECT_EQ(ops::to_string(graph->value(graph->outputs[0]).type), "f32[3,2]");
}

TEST(If, BranchesGiveOneType) {
  ModelForTest square = branches({"2", "2"}, false);
  const auto graph = square.import();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(graph->nodes.front().op, "if");
  EXPECT_EQ(graph->nodes.front().bodies.size(), 2u);
  ModelForTest oblong = branches({"2", "3"}, false);
  EXPECT_EQ(oblong.error(), "node 'choose' (If): output 0 of an if is f32[3,2] or f32[2,3]");
}

TEST(If, TakesTheOnlyBranchThatFits) {
  ModelForTest model = branches({"2", "3"}, false);
  ::onnx::NodeProto& node = *model.proto().mutable_graph()->mutable_node(0);
  set_attribute(*node.mutable_attribute(0)->mutable_g()->mutable_node(0), "perm",
                std::vector<std::int64_t>{0, 1, 2});
  const auto graph = model.import();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(graph->nodes.back().op, "require");
  EXPECT_EQ(std::get<std::int64_t>(graph->nodes.back().attributes.at("expected")), 0);
  EXPECT_EQ(ops::to_string(graph->value(graph->outputs[0]).type), "f32[2,3]");
}

// A loop of `trips` iterations that appends x to its state.
ModelForTest growing(std::vector<std::int64_t> trips) {
  ModelForTest model;
  model.input("x", {"2"}).output("y").integers("trips", std::move(trips));
  ::onnx::NodeProto& node = model.node("Loop", {"trips", "", "x"}, {"y"}, "grow");
  ::onnx::GraphProto& body = graph_attribute(node, "body");
  for (const char* name : {"i", "c", "state"}) add_value(*body.mutable_input(), name);
  add_node(body, "Identity", {"c"}, "go");
  add_node(body, "Concat", {"state", "x"}, "more");
  set_attribute(*body.mutable_node(1), "axis", std::int64_t{0});
  for (const char* name : {"go", "more"}) add_value(*body.mutable_output(), name);
  return model;
}

TEST(Loop, GrowingStatesAreUnrolled) {
  ModelForTest model = growing({3});
  const auto graph = model.import();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(graph->nodes.size(), 3u);
  EXPECT_EQ(ops::to_string(graph->value(graph->outputs[0]).type), "f32[8]");
  ModelForTest long_one = growing({100000});
  EXPECT_EQ(long_one.error(),
            "node 'grow' (Loop): the loop turns its value 0 from f32[2] into f32[4]");
}

// while i < n: stack x; n is handed on unchanged, i counts by one.
TEST(Loop, CountsWhatConstantsEnd) {
  ModelForTest model;
  model.input("x", {"2"}).output("last").output("rows");
  model.integers("first", {0}).integers("limit", {5}).integers("one", {1});
  ::onnx::NodeProto& node =
      model.node("Loop", {"", "", "first", "limit"}, {"last", "same", "rows"}, "count");
  ::onnx::GraphProto& body = graph_attribute(node, "body");
  for (const char* name : {"i", "c", "at", "n"}) add_value(*body.mutable_input(), name);
  add_node(body, "Add", {"at", "one"}, "next");
  add_node(body, "Less", {"next", "n"}, "go");
  add_node(body, "Identity", {"n"}, "n_out");
  add_node(body, "Identity", {"x"}, "row");
  for (const char* name : {"go", "next", "n_out", "row"}) add_value(*body.mutable_output(), name);
  const auto graph = model.import();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  ASSERT_EQ(graph->nodes.front().op, "loop");
  const auto& attributes = graph->nodes.front().attributes;
  EXPECT_EQ(std::get<std::int64_t>(attributes.at("max_trips")), 5);
  EXPECT_EQ(std::get<std::int64_t>(attributes.at("has_condition")), 0);
  EXPECT_EQ(std::get<std::int64_t>(attributes.at("carried")), 1);
  EXPECT_EQ(ops::to_string(graph->value(graph->outputs[1]).type), "f32[5,2]");
}

}  // namespace
}  // namespace attune::onnx

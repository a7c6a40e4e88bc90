#include "tests/support/tiny_onnx.h"

#include <cctype>
#include <fstream>

#include "base/check.h"
#include "compiler/frontend/onnx/proto/model_file.h"
#include "compiler/frontend/onnx/proto/onnx.pb.h"

namespace attune::test {
namespace {

void write_message(const std::string& path, const ::onnx::TensorProto& tensor) {
  std::ofstream file(path, std::ios::binary);
  CHECK(tensor.SerializeToOstream(&file), "cannot write " + path);
}

void add_node(const TinyNode& given, ::onnx::GraphProto& graph) {
  ::onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(given.op);
  node.set_name("node");
  node.add_output(given.output);
  for (const std::string& input : given.inputs) node.add_input(input);
  for (const auto& [name, list] : given.lists) {
    ::onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(::onnx::AttributeProto::INTS);
    for (const std::int64_t value : list) attribute.add_ints(value);
  }
  for (const auto& [name, value] : given.numbers) {
    ::onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(::onnx::AttributeProto::INT);
    attribute.set_i(value);
  }
  for (const auto& [name, value] : given.words) {
    ::onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(::onnx::AttributeProto::STRING);
    attribute.set_s(value);
  }
}

void add_branch(const std::string& name, const std::vector<TinyNode>& nodes,
                ::onnx::NodeProto& node) {
  ::onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::GRAPH);
  attribute.mutable_g()->set_name(name);
  for (const TinyNode& each : nodes) add_node(each, *attribute.mutable_g());
  attribute.mutable_g()->add_output()->set_name(nodes.back().output);
}

void add_input(const TinyInput& given, ::onnx::GraphProto& graph) {
  ::onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name(given.name);
  auto& tensor = *input.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(given.integers ? ::onnx::TensorProto::INT64 : ::onnx::TensorProto::FLOAT);
  tensor.mutable_shape();
  for (const std::string& dim : given.dims) {
    auto& added = *tensor.mutable_shape()->add_dim();
    if (std::isdigit(static_cast<unsigned char>(dim[0])) != 0) {
      added.set_dim_value(std::stoll(dim));
    } else {
      added.set_dim_param(dim);
    }
  }
}

void add_weight(const TinyInput& given, ::onnx::GraphProto& graph) {
  ::onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(given.name);
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  std::int64_t elements = 1;
  for (const std::string& dim : given.dims) {
    tensor.add_dims(std::stoll(dim));
    elements *= std::stoll(dim);
  }
  // Different for each name: equal constants would become one.
  const std::int64_t first = given.name.empty() ? 0 : given.name.front();
  for (std::int64_t i = 0; i < elements; ++i) {
    tensor.add_float_data(static_cast<float>((first + i) % 7 - 3) / 4);
  }
}

}  // namespace

std::string write_tiny_model(const std::string& path, const std::string& op,
                             const std::vector<TinyInput>& inputs, const std::string& output) {
  TinyNode node{op, {}, output};
  for (const TinyInput& given : inputs) node.inputs.push_back(given.name);
  return write_tiny_model(path, std::vector{node}, inputs);
}

std::string write_tiny_model(const std::string& path, const std::vector<TinyNode>& nodes,
                             const std::vector<TinyInput>& inputs) {
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  ::onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("tiny");
  for (const TinyNode& given : nodes) add_node(given, graph);
  for (const TinyInput& given : inputs) {
    if (given.weight) {
      add_weight(given, graph);
    } else {
      add_input(given, graph);
    }
  }
  graph.add_output()->set_name(nodes.back().output);
  const Status written = onnx_proto::write_model(model, path);
  CHECK(written.ok(), "cannot write " + path);
  return path;
}

std::string write_branching_model(const std::string& path) {
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  ::onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("branching");
  add_input({"n", {"1"}, true}, graph);
  add_input({"x", {"256", "256"}}, graph);
  add_node({"Cast", {"n"}, "c", {}, {{"to", ::onnx::TensorProto::BOOL}}}, graph);
  add_node({"If", {"c"}, "y"}, graph);
  ::onnx::NodeProto& branch = *graph.mutable_node(1);
  add_branch("then_branch", {{"MatMul", {"x", "x"}, "xx"}, {"MatMul", {"xx", "x"}, "a"}}, branch);
  add_branch("else_branch", {{"Relu", {"x"}, "b"}}, branch);
  graph.add_output()->set_name("y");
  const Status written = onnx_proto::write_model(model, path);
  CHECK(written.ok(), "cannot write " + path);
  return path;
}

void write_tensor(const std::string& path, const std::vector<std::int64_t>& dims,
                  const std::vector<float>& values) {
  ::onnx::TensorProto tensor;
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  for (const float value : values) tensor.add_float_data(value);
  write_message(path, tensor);
}

void write_tensor(const std::string& path, const std::vector<std::int64_t>& dims,
                  const std::vector<std::int64_t>& values) {
  ::onnx::TensorProto tensor;
  tensor.set_data_type(::onnx::TensorProto::INT64);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  for (const std::int64_t value : values) tensor.add_int64_data(value);
  write_message(path, tensor);
}

}  // namespace attune::test

#include "compiler/frontend/onnx/model_testing.h"

#include <cctype>

namespace attune::onnx {
namespace {

::onnx::AttributeProto& add_attribute(::onnx::NodeProto& node, const std::string& name,
                                      ::onnx::AttributeProto::AttributeType type) {
  ::onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

}  // namespace

ModelForTest::ModelForTest(int opset) {
  proto_.set_ir_version(10);
  proto_.add_opset_import()->set_version(opset);
  proto_.mutable_graph()->set_name("test");
}

ModelForTest& ModelForTest::input(const std::string& name, std::vector<std::string> dims,
                                  int type) {
  ::onnx::ValueInfoProto& info = *proto_.mutable_graph()->add_input();
  info.set_name(name);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape();
  for (const std::string& dim : dims) {
    auto& added = *tensor.mutable_shape()->add_dim();
    if (std::isdigit(static_cast<unsigned char>(dim[0])) != 0 || dim[0] == '-') {
      added.set_dim_value(std::stoll(dim));
    } else if (dim != "?") {
      added.set_dim_param(dim);
    }
  }
  return *this;
}

ModelForTest& ModelForTest::output(const std::string& name) {
  proto_.mutable_graph()->add_output()->set_name(name);
  return *this;
}

ModelForTest& ModelForTest::integers(const std::string& name, std::vector<std::int64_t> values) {
  ::onnx::TensorProto& tensor = *proto_.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(::onnx::TensorProto::INT64);
  tensor.add_dims(static_cast<std::int64_t>(values.size()));
  for (const std::int64_t value : values) tensor.add_int64_data(value);
  return *this;
}

ModelForTest& ModelForTest::reals(const std::string& name, std::vector<std::int64_t> dims,
                                  std::vector<float> values) {
  ::onnx::TensorProto& tensor = *proto_.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  for (const float value : values) tensor.add_float_data(value);
  return *this;
}

::onnx::NodeProto& ModelForTest::node(const std::string& op, std::vector<std::string> inputs,
                                      std::vector<std::string> outputs, const std::string& name) {
  ::onnx::NodeProto& node = *proto_.mutable_graph()->add_node();
  node.set_op_type(op);
  node.set_name(name);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

Result<graph::Graph> ModelForTest::import(const ImportOptions& options, ImportReport* report) {
  return import_model(onnx_proto::ModelFile::in_memory(proto_), options, report);
}

std::string ModelForTest::error(const ImportOptions& options) {
  const auto graph = import(options);
  return graph.ok() ? "ok" : graph.error().message;
}

void set_attribute(::onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  add_attribute(node, name, ::onnx::AttributeProto::INT).set_i(value);
}

void set_attribute(::onnx::NodeProto& node, const std::string& name, float value) {
  add_attribute(node, name, ::onnx::AttributeProto::FLOAT).set_f(value);
}

void set_attribute(::onnx::NodeProto& node, const std::string& name, const std::string& value) {
  add_attribute(node, name, ::onnx::AttributeProto::STRING).set_s(value);
}

void set_attribute(::onnx::NodeProto& node, const std::string& name,
                   const std::vector<std::int64_t>& value) {
  auto& attribute = add_attribute(node, name, ::onnx::AttributeProto::INTS);
  for (const std::int64_t number : value) attribute.add_ints(number);
}

::onnx::GraphProto& graph_attribute(::onnx::NodeProto& node, const std::string& name) {
  return *add_attribute(node, name, ::onnx::AttributeProto::GRAPH).mutable_g();
}

}  // namespace attune::onnx

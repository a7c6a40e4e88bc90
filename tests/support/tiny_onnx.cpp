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

}  // namespace

std::string write_tiny_model(const std::string& path, const std::string& op,
                             const std::vector<TinyInput>& inputs, const std::string& output) {
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  ::onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("tiny");
  ::onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(op);
  node.set_name("node");
  node.add_output(output);
  for (const TinyInput& given : inputs) {
    node.add_input(given.name);
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
  graph.add_output()->set_name(output);
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

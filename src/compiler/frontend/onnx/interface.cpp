#include "compiler/frontend/onnx/interface.h"

#include <set>

#include "compiler/frontend/onnx/proto/onnx.pb.h"

namespace attune::onnx {
namespace {

bool is_tensor(const ::onnx::ValueInfoProto& value) {
  const auto kind = value.type().value_case();
  return kind == ::onnx::TypeProto::kTensorType || kind == ::onnx::TypeProto::VALUE_NOT_SET;
}

}  // namespace

Interface interface_of(const onnx_proto::ModelFile& model) {
  const ::onnx::GraphProto& graph = model.proto().graph();
  std::set<std::string> initialised;
  for (const auto& tensor : graph.initializer()) initialised.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) {
    initialised.insert(tensor.values().name());
  }
  Interface interface;
  for (const auto& input : graph.input()) {
    interface.inputs.push_back(
        {input.name(), is_tensor(input), initialised.count(input.name()) != 0});
  }
  for (const auto& output : graph.output()) {
    interface.outputs.push_back({output.name(), is_tensor(output), false});
  }
  return interface;
}

}  // namespace attune::onnx

#include "compiler/frontend/onnx/interface.h"

#include <fmt/format.h>

#include <map>
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
  const std::vector<std::string> names = output_names(model);
  for (int i = 0; i < graph.output_size(); ++i) {
    interface.outputs.push_back(
        {names[static_cast<std::size_t>(i)], is_tensor(graph.output(i)), false});
  }
  return interface;
}

std::vector<std::string> output_names(const onnx_proto::ModelFile& model) {
  const ::onnx::GraphProto& graph = model.proto().graph();
  std::set<std::string> taken;
  for (const auto& output : graph.output()) taken.insert(output.name());
  std::map<std::string, int> seen;
  std::vector<std::string> names;
  for (const auto& output : graph.output()) {
    std::string name = output.name();
    for (int& times = ++seen[output.name()]; times > 1; ++times) {
      name = fmt::format("{}.{}", output.name(), times);
      if (taken.insert(name).second) break;
    }
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace attune::onnx

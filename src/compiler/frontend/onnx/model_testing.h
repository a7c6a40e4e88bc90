// Small models written down in tests.
#pragma once

#include <string>
#include <vector>

#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/proto/onnx.pb.h"

namespace attune::onnx {

class ModelForTest {
 public:
  explicit ModelForTest(int opset = 21);

  // A dimension is a number, a symbol, or "?".
  ModelForTest& input(const std::string& name, std::vector<std::string> dims,
                      int type = ::onnx::TensorProto::FLOAT);
  ModelForTest& output(const std::string& name);
  ModelForTest& integers(const std::string& name, std::vector<std::int64_t> values);
  ModelForTest& reals(const std::string& name, std::vector<std::int64_t> dims,
                      std::vector<float> values);
  ::onnx::NodeProto& node(const std::string& op, std::vector<std::string> inputs,
                          std::vector<std::string> outputs, const std::string& name = {});
  ::onnx::ModelProto& proto() { return proto_; }

  Result<graph::Graph> import(const ImportOptions& options = {}, ImportReport* report = nullptr);
  // The message of the error, or "ok".
  std::string error(const ImportOptions& options = {});

 private:
  ::onnx::ModelProto proto_;
};

void set_attribute(::onnx::NodeProto& node, const std::string& name, std::int64_t value);
void set_attribute(::onnx::NodeProto& node, const std::string& name, float value);
void set_attribute(::onnx::NodeProto& node, const std::string& name, const std::string& value);
void set_attribute(::onnx::NodeProto& node, const std::string& name,
                   const std::vector<std::int64_t>& value);
::onnx::GraphProto& graph_attribute(::onnx::NodeProto& node, const std::string& name);

}  // namespace attune::onnx

// The inside of import.h: which names stand for which values while a model is imported. A Site is
// one graph under construction, the model's own or the body of a control operator. A Scope is one
// list of nodes that goes into a site: a graph, a subgraph or a function that is called. Names that
// a scope does not define are looked up in the scope around it; where that goes into another site,
// the value becomes an input of the body (a capture), or the constant is shared.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/node_context.h"
#include "compiler/frontend/onnx/proto/onnx.pb.h"

namespace attune::onnx {

// Stands for outputs of nodes that their converters do not compute.
inline constexpr ValueId kUnsupportedOutput = -2;

using FunctionKey = std::tuple<std::string, std::string, std::string>;  // domain, name, overload

// What does not change during one import.
struct Model {
  const onnx_proto::ModelFile& file;
  const ImportOptions& options;
  ImportReport& report;
  std::map<FunctionKey, const ::onnx::FunctionProto*> functions = {};
  std::int64_t nodes_left = 1'000'000;  // functions may multiply: an end to that
  // Of constants that no file holds: made by converters, or folded. Each of the file adds to it, as
  // most of them are transposed once.
  std::shared_ptr<std::int64_t> made_bytes_left =
      std::make_shared<std::int64_t>(std::int64_t{1} << 28);
  std::unordered_set<const ::onnx::TensorProto*> added = {};  // to that

  graph::Folding folding() const;
  const ::onnx::FunctionProto* find_function(const ::onnx::NodeProto& node) const;
};

struct Site {
  Site(std::string name, graph::Folding options, Site* around);

  // The value of the site around this one, here.
  ValueId capture(ValueId outer_value);
  // The inputs of the model that a value is computed from.
  std::vector<std::string> model_inputs(ValueId value) const;

  graph::Builder builder;
  Site* outer;
  std::vector<ValueId> captures = {};  // of `outer`, in the order of the inputs they became
  std::unordered_map<ValueId, ValueId> captured = {};  // from values of `outer` to values here
  std::unordered_map<ValueId, std::vector<ValueId>> sources = {};  // operands of the value's node
  std::unordered_map<ValueId, std::string> inputs = {};            // of the model
  Maxima maxima = {};                                              // of some of them
};

using OpsetTable = std::map<std::string, int, std::less<>>;

class Scope {
 public:
  Scope(Model& model, Site& site, Scope* outer, OpsetTable opsets);

  // Adds the initialisers; each is made a constant when it is first read.
  Status add_initialisers(const ::onnx::GraphProto& graph);
  bool has_initialiser(const std::string& name) const;
  void define(const std::string& name, ValueId value) { values_[name] = value; }
  bool defines(const std::string& name) const;
  // Nothing if no scope knows the name.
  Result<std::optional<ValueId>> find(const std::string& name);

  int opset(std::string_view domain) const;
  const OpsetTable& opsets() const { return opsets_; }
  Model& model() const { return model_; }
  Site& site() const { return site_; }
  // What the attributes of the function that is called here refer to.
  const AttributeTable& arguments() const { return arguments_; }
  void set_arguments(AttributeTable arguments) { arguments_ = std::move(arguments); }
  int depth() const { return depth_; }
  void set_depth(int depth) { depth_ = depth; }

 private:
  Result<ConstantPtr> initialiser(const std::string& name) const;

  Model& model_;
  Site& site_;
  Scope* outer_;
  OpsetTable opsets_;
  AttributeTable arguments_;
  int depth_;
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_map<std::string, const ::onnx::TensorProto*> tensors_;
  std::unordered_map<std::string, const ::onnx::SparseTensorProto*> sparse_tensors_;
};

OpsetTable opset_table(
    const ::google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>& imports);

// Imports the nodes of a graph whose inputs the scope defines; the values of its outputs.
Result<std::vector<ValueId>> import_graph(Scope& scope, const ::onnx::GraphProto& graph);

// Nodes in an order in which producers come first, without those that no output needs. Fails for
// names that are computed twice and for cycles, and names the nodes. `known`: names that are values
// already.
using NodeList = ::google::protobuf::RepeatedPtrField<::onnx::NodeProto>;
Result<std::vector<const ::onnx::NodeProto*>> sorted_nodes(const NodeList& nodes,
                                                           const std::vector<std::string>& outputs,
                                                           const Scope& known);

// One error that lists all operators and attributes the model has and no converter knows.
Status check_operators(const Model& model);

// Makes inputs of the graph, or constants, of the inputs of the model.
Status add_model_inputs(Scope& scope);

Result<ConstantPtr> constant_of(const onnx_proto::ModelFile& file,
                                const ::onnx::TensorProto& proto);
Result<ConstantPtr> constant_of(const onnx_proto::ModelFile& file,
                                const ::onnx::SparseTensorProto& proto, std::int64_t& bytes_left);

// "node 'conv1' (Conv)"; nodes without a name are called by what they compute.
std::string label_of(const ::onnx::NodeProto& node);
// "ai.onnx" and the empty name are the same.
std::string_view domain_of(std::string_view domain);

}  // namespace attune::onnx

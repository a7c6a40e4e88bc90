// What a converter sees of one node of a model: its attributes and operands, and the builder of the
// graph that it adds operators to. Attributes are typed and have defaults; one of another type
// fails the conversion, whatever the converter returns.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/onnx/bounds.h"
#include "compiler/graph/builder.h"

namespace onnx {
class AttributeProto;
class NodeProto;
}  // namespace onnx

namespace attune::onnx {

using graph::kNoValue;
using graph::ValueId;
using ops::Attributes;
using ops::ConstantPtr;
using ops::TensorType;

class Scope;

// The body of a control operator. Its inputs are those that were asked for, then the values that it
// reads from around it, which the node takes as its last inputs.
struct Body {
  std::shared_ptr<const graph::Graph> graph;
  std::vector<ValueId> captures;
};

using AttributeTable = std::map<std::string, const ::onnx::AttributeProto*, std::less<>>;

class NodeContext {
 public:
  NodeContext(Scope& scope, const ::onnx::NodeProto& node, int opset, AttributeTable attributes,
              std::vector<ValueId> inputs);

  const std::string& op() const;        // "Conv"
  std::string label() const;            // "node 'conv1' (Conv)"
  int opset() const { return opset_; }  // version of the operator's domain

  // Operands, as many as the node names; kNoValue for those that are left out.
  const std::vector<ValueId>& inputs() const { return inputs_; }
  std::size_t input_count() const { return inputs_.size(); }
  ValueId input(std::size_t i) const { return i < inputs_.size() ? inputs_[i] : kNoValue; }
  bool has(std::size_t i) const { return input(i) != kNoValue; }
  const std::string& input_name(std::size_t i) const;
  std::size_t output_count() const;  // as many as the node names
  // The shape that the model itself states for an output, if it is all numbers.
  std::optional<std::vector<std::int64_t>> declared_shape(std::size_t i) const;
  bool wants_output(std::size_t i) const;  // somebody may read it

  // Attributes.
  bool has_attribute(std::string_view key) const { return attributes_.count(key) != 0; }
  std::int64_t integer(std::string_view key, std::int64_t fallback);
  bool flag(std::string_view key, bool fallback = false) { return integer(key, fallback) != 0; }
  double real(std::string_view key, double fallback);
  std::string word(std::string_view key, std::string_view fallback);
  std::optional<std::vector<std::int64_t>> integers(std::string_view key);
  std::optional<std::vector<double>> reals(std::string_view key);
  std::vector<std::string> words(std::string_view key);
  Result<ConstantPtr> tensor(std::string_view key);         // must be there
  Result<ConstantPtr> sparse_tensor(std::string_view key);  // must be there; comes back dense

  // Subgraphs. body() makes a graph of its own from the types of what the operator hands to it;
  // inline_body() puts the nodes of the subgraph in the place of this node.
  // Where `known` has a constant, that takes the place of the input.
  Result<Body> body(std::string_view attribute, const std::vector<TensorType>& handed,
                    const std::vector<ConstantPtr>& known = {});
  Result<std::vector<ValueId>> inline_body(std::string_view attribute,
                                           const std::vector<ValueId>& handed);
  std::size_t body_output_count(std::string_view attribute);
  // For each output of a subgraph the number of the input that it is, unchanged, or -1.
  std::vector<int> passed_through(std::string_view attribute);

  // The graph under construction.
  graph::Builder& builder();
  // Types of values; that of an absent one is f32[0].
  const TensorType& type(ValueId value);
  const std::vector<std::int64_t>& shape(ValueId value) { return type(value).shape; }
  ir::DType dtype(ValueId value) { return type(value).dtype; }
  int rank(ValueId value) { return type(value).rank(); }
  Result<ValueId> add(std::string op, std::vector<ValueId> inputs, Attributes attributes = {});
  // For long chains: the first failure is kept and fails the conversion, whatever it returns; what
  // comes after it is not built.
  ValueId make(std::string op, std::vector<ValueId> inputs, Attributes attributes = {});
  bool failed() const { return failure_.has_value(); }
  ValueId constant(ConstantPtr value);
  ValueId scalar(ir::DType type, double value);                        // a 0-D constant
  ValueId integers_constant(const std::vector<std::int64_t>& values);  // i64, 1-D
  // The same number everywhere; what is large is left to a kernel.
  Result<ValueId> filled(ir::DType type, std::vector<std::int64_t> shape, double value);
  // To be asked before a constant is made that the file does not hold: few bytes may ask for many.
  Status count_made(ir::DType type, const std::vector<std::int64_t>& shape);
  Result<ValueId> reshape(ValueId value, std::vector<std::int64_t> shape);  // itself if it has it
  Result<ValueId> cast(ValueId value, ir::DType type);                      // itself if it has it

  // Operands that must be constants; `role` is the operand's name in the ONNX standard. The failure
  // records which inputs of the model would have to be bound.
  Result<ConstantPtr> constant_input(std::size_t i, std::string_view role);
  Result<std::vector<std::int64_t>> integers_input(std::size_t i, std::string_view role);
  Result<std::int64_t> integer_input(std::size_t i, std::string_view role);
  // Operands that only have to be bounded: how large each element can be.
  bool is_open(std::size_t i) { return has(i) && builder().constant_of(input(i)) == nullptr; }
  std::optional<Bounds> find_bounds(std::size_t i);
  Result<Bounds> bounds_input(std::size_t i, std::string_view role);

  // An axis counted from the end if it is negative; the error says what is in range.
  Result<std::int64_t> axis(std::int64_t value, int rank) const;
  Result<std::vector<std::int64_t>> axes(std::vector<std::int64_t> values, int rank) const;

  // What went wrong besides the converter's own result.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  const ::onnx::AttributeProto* find(std::string_view key, int type);
  void fail(Error error);

  Scope& scope_;
  const ::onnx::NodeProto& node_;
  int opset_;
  AttributeTable attributes_;
  std::vector<ValueId> inputs_;
  std::optional<Error> failure_;
};

}  // namespace attune::onnx

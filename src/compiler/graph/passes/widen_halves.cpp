// Between operators f16 and bf16 become f32: they are computed in f32 anyway, so what is left to
// convert are inputs and outputs of the graph, once each, and the schedules of f32 serve them all.
// Weights are converted ahead. Roundings that the model asks for by a cast stay; those that it does
// only because its values are stored in 16 bits go. What is merely moved before anything is
// computed of it, such as rows of an embedding, stays as small as it is.
#include <algorithm>
#include <map>

#include "compiler/graph/constants.h"
#include "compiler/graph/passes/pass_list.h"
#include "compiler/graph/passes/rewriter.h"

namespace attune::graph {
namespace {

bool is_half(ir::DType type) { return type == ir::kF16 || type == ir::kBF16; }

class Widening {
 public:
  explicit Widening(const Graph& graph) : rewriter_(graph) {}

  Graph run() && {
    const int count = rewriter_.node_count();
    for (int n = 0; n < count; ++n) {
      if (rewriter_.alive(n) && concerns(rewriter_.node(n))) widen(n);
    }
    return std::move(rewriter_).finish();
  }

 private:
  bool is_half_value(ValueId id) const {
    return id != kNoValue && is_half(rewriter_.type(id).dtype);
  }

  bool concerns(const Node& node) const {
    using Kind = ops::OpKind;
    const Kind kind = operator_of(node).kind;
    if (kind == Kind::Host || kind == Kind::Control || node.op == "bit_cast") return false;
    if (std::none_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId id) { return is_half_value(id); })) {
      return false;
    }
    const bool moves = kind == Kind::View || kind == Kind::Injective || node.op == "cast";
    return !moves || std::any_of(node.inputs.begin(), node.inputs.end(),
                                 [&](ValueId id) { return wide_.count(id) != 0; });
  }

  // The value in f32.
  ValueId wide(ValueId id) {
    const auto [found, is_new] = wide_.emplace(id, kNoValue);
    if (!is_new) return found->second;
    const std::string& name = rewriter_.value(id).name;
    if (const ConstantPtr constant = rewriter_.constant_of(id)) {
      TensorType type = constant->type;
      type.dtype = ir::kF32;
      found->second = rewriter_.add_constant(real_constant(type, reals(*constant)), name);
    } else {
      found->second = rewriter_.add("cast", {id}, {{"to", std::string("f32")}}, name);
    }
    return found->second;
  }

  void widen(int n) {
    const Node node = rewriter_.node(n);
    std::vector<ValueId> inputs = node.inputs;
    for (ValueId& id : inputs) {
      if (is_half_value(id)) id = wide(id);
    }
    if (node.op == "cast") return rewriter_.update(n, inputs, node.attributes);
    const ValueId before = node.outputs[0];
    const ir::DType type = rewriter_.type(before).dtype;
    Attributes attributes = node.attributes;
    if (is_half(type) && attributes.count("to") != 0) attributes["to"] = std::string("f32");
    ValueId after = rewriter_.add(node.op, inputs, attributes, node.name);
    if (is_half(type)) {
      const ValueId narrow =
          rewriter_.add("cast", {after}, {{"to", ir::to_string(type)}}, node.name);
      wide_[before] = wide_[narrow] = after;
      after = narrow;
    }
    rewriter_.replace(before, after);
  }

  Rewriter rewriter_;
  std::map<ValueId, ValueId> wide_;  // values of 16 bits, as f32
};

}  // namespace

Result<Graph> widen_halves(const Graph& graph, const PassContext& /*context*/) {
  return Widening(graph).run();
}

}  // namespace attune::graph

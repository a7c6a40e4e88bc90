// A model whose file computes in f32, computed in another precision. In 16 bits: heavy operators
// take narrow operands and give narrow results, and so does what lies between two of them, where
// operators say that they lose little by it (OpTraits::narrow); all else stays f32. Inputs and
// outputs of the graph keep their types. Each value is stored once: where a heavy operator reads
// it, others widen the narrow one for themselves. Weights are converted ahead; constants that the
// type cannot hold keep their operators wide. In tf32 products are marked, and nothing else
// changes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"
#include "compiler/graph/tasks/product_operands.h"

namespace attune::graph {
namespace {

using ops::OpKind;

// Factors of a heavy operator; what follows is added to its sums.
constexpr std::size_t kFactors = 2;

float element(const Constant& constant, std::int64_t i) {
  float value = 0;
  std::memcpy(&value, constant.bytes.data() + static_cast<std::size_t>(i) * sizeof value,
              sizeof value);
  return value;
}

// Whether the largest magnitude of an f32 constant keeps its digits in `type`.
bool survives(const Constant& constant, ir::DType type) {
  if (type != ir::kF16) return true;
  constexpr float kGreatest = 65504, kLeast = 0x1p-12F;
  float largest = 0;
  for (std::int64_t i = 0; i < constant.type.elements(); ++i) {
    const float magnitude = std::abs(element(constant, i));
    if (!(magnitude <= kGreatest)) return false;
    largest = std::max(largest, magnitude);
  }
  return largest == 0 || largest >= kLeast;
}

ConstantPtr narrowed(const Constant& constant, ir::DType type) {
  ir::Array array(type, constant.type.shape);
  for (std::int64_t i = 0; i < constant.type.elements(); ++i) {
    array.set_real(i, element(constant, i));
  }
  return ops::make_constant(std::move(array));
}

class Narrowing {
 public:
  Narrowing(const Graph& graph, ir::DType type)
      : rewriter_(graph),
        type_(type),
        first_new_(rewriter_.node_count()),
        derived_(graph.values.size(), false),
        wanted_(graph.values.size(), false),
        narrow_(graph.nodes.size(), false) {}

  Graph run() && {
    for (int n = 0; n < first_new_; ++n) find_derived(n);
    for (int n = first_new_ - 1; n >= 0; --n) decide(n);
    for (int n = 0; n < first_new_; ++n) {
      if (narrow_[static_cast<std::size_t>(n)]) narrow(n);
    }
    store_once();
    cancel_casts();
    return std::move(rewriter_).finish();
  }

 private:
  bool is_f32(ValueId id) const { return id != kNoValue && rewriter_.type(id).dtype == ir::kF32; }
  bool is_static(ValueId id) const { return id == kNoValue || rewriter_.type(id).is_static(); }

  // The operands of a node that would become narrow, by their places.
  std::vector<std::size_t> operands(const Node& node) const {
    std::vector<std::size_t> places;
    const bool heavy = operator_of(node).kind == OpKind::Heavy;
    for (std::size_t i = 0; i < node.inputs.size() && (!heavy || i < kFactors); ++i) {
      if (is_f32(node.inputs[i])) places.push_back(i);
    }
    return places;
  }

  bool is_heavy(const Node& node) const {
    return operator_of(node).kind == OpKind::Heavy && operands(node).size() == kFactors;
  }
  // The same elements elsewhere: as narrow as what they come from.
  bool moves(const Node& node) const {
    const OpKind kind = operator_of(node).kind;
    return kind == OpKind::View || kind == OpKind::Injective;
  }

  // Whether the node has a meaning in 16 bits that loses little.
  bool may_be_narrow(const Node& node) const {
    const ops::OpDef& def = operator_of(node);
    if (node.outputs.size() != 1 || !is_f32(node.outputs[0]) || !is_static(node.outputs[0]) ||
        !std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId id) { return is_static(id); })) {
      return false;
    }
    if (!is_heavy(node) && def.kind != OpKind::View && !def.traits.narrow) return false;
    const auto places = operands(node);
    return !places.empty() && std::all_of(places.begin(), places.end(), [&](std::size_t i) {
      const ConstantPtr constant = rewriter_.constant_of(node.inputs[i]);
      return constant == nullptr || survives(*constant, type_);
    });
  }

  // What comes from a heavy operator, through nothing but what may be narrow.
  void find_derived(int n) {
    const Node& node = rewriter_.node(n);
    if (!rewriter_.alive(n) || !may_be_narrow(node)) return;
    narrow_[static_cast<std::size_t>(n)] = true;
    const bool derived = is_heavy(node) || std::any_of(node.inputs.begin(), node.inputs.end(),
                                                       [&](ValueId id) { return is_derived(id); });
    if (derived) derived_[static_cast<std::size_t>(node.outputs[0])] = true;
  }

  bool is_derived(ValueId id) const {
    return id != kNoValue && derived_[static_cast<std::size_t>(id)];
  }

  // Heavy operators are narrow, and what leads to them: through movement from wherever, through
  // arithmetic from another heavy one.
  void decide(int n) {
    const auto at = static_cast<std::size_t>(n);
    if (!narrow_[at]) return;
    const Node& node = rewriter_.node(n);
    const ValueId output = node.outputs[0];
    narrow_[at] = is_heavy(node) || (wanted_[static_cast<std::size_t>(output)] &&
                                     (moves(node) || is_derived(output)));
    if (!narrow_[at]) return;
    for (const std::size_t i : operands(node)) {
      wanted_[static_cast<std::size_t>(node.inputs[i])] = true;
    }
  }

  ValueId add_cast(ValueId id, ir::DType type) {
    return rewriter_.add("cast", {id}, {{"to", ir::to_string(type)}}, rewriter_.value(id).name);
  }

  // The value in 16 bits.
  ValueId narrow_value(ValueId id) {
    const auto [found, is_new] = narrow_values_.emplace(id, kNoValue);
    if (!is_new) return found->second;
    const Node* cast = made_by(rewriter_, id, "cast");
    if (const ConstantPtr constant = rewriter_.constant_of(id)) {
      found->second = rewriter_.add_constant(narrowed(*constant, type_), rewriter_.value(id).name);
    } else if (cast != nullptr && rewriter_.type(cast->inputs[0]).dtype == type_) {
      found->second = cast->inputs[0];
    } else {
      found->second = add_cast(id, type_);
    }
    return found->second;
  }

  void narrow(int n) {
    const Node node = rewriter_.node(n);
    std::vector<ValueId> inputs = node.inputs;
    for (const std::size_t i : operands(node)) inputs[i] = narrow_value(inputs[i]);
    const ValueId before = node.outputs[0];
    const ValueId after = rewriter_.add(node.op, inputs, node.attributes, node.name);
    const ValueId wide = add_cast(after, ir::kF32);
    narrow_values_[before] = narrow_values_[wide] = after;
    rewriter_.replace(before, wide);
  }

  // A value that is stored in 16 bits is read as such: wide readers widen it, each for itself, so
  // that no kernel does nothing else.
  void store_once() {
    for (const auto& [wide, narrow] : std::map(narrow_values_)) {
      if (rewriter_.constant_of(wide) != nullptr || rewriter_.producer(wide) < 0) continue;
      const bool stays = !rewriter_.users(narrow).empty() && is_computed(wide);
      const bool is_widened = rewriter_.producer(wide) >= first_new_;
      if (!stays || (is_widened && rewriter_.users(narrow).size() < 2)) continue;
      const std::vector<int> readers = rewriter_.users(wide);
      const int own = rewriter_.producer(narrow);
      for (const int reader : readers) {
        const Node& node = rewriter_.node(reader);
        const OpKind kind = operator_of(node).kind;
        if (reader == own || kind == OpKind::Control || kind == OpKind::Host) continue;
        std::vector<ValueId> inputs = node.inputs;
        std::replace(inputs.begin(), inputs.end(), wide, add_cast(narrow, ir::kF32));
        rewriter_.update(reader, inputs, node.attributes);
      }
    }
  }

  // By a kernel, whose last step can be a rounding, and not for the user.
  bool is_computed(ValueId id) const {
    const Node* maker = rewriter_.maker(id);
    if (maker == nullptr || rewriter_.is_output(id)) return false;
    const OpKind kind = operator_of(*maker).kind;
    return kind != OpKind::Host && kind != OpKind::Control && kind != OpKind::View;
  }

  // What was widened only to be rounded to the same type again.
  void cancel_casts() {
    for (int n = 0; n < rewriter_.node_count(); ++n) {
      if (!rewriter_.alive(n) || rewriter_.node(n).op != "cast") continue;
      const ValueId result = rewriter_.node(n).outputs[0];
      const Node* before = made_by(rewriter_, rewriter_.node(n).inputs[0], "cast");
      if (before == nullptr || rewriter_.type(result).dtype != type_ ||
          !is_f32(before->outputs[0]) || rewriter_.type(before->inputs[0]).dtype != type_) {
        continue;
      }
      rewriter_.replace(result, before->inputs[0]);
    }
  }

  Rewriter rewriter_;
  const ir::DType type_;
  const int first_new_;                       // node
  std::vector<bool> derived_, wanted_;        // by value
  std::vector<bool> narrow_;                  // by node
  std::map<ValueId, ValueId> narrow_values_;  // of values in f32
};

// Products whose operands may be rounded.
Graph marked(const Graph& graph) {
  Graph result = graph;
  for (Node& node : result.nodes) {
    const bool heavy = operator_of(node).kind == OpKind::Heavy;
    const bool wide =
        heavy && std::all_of(node.inputs.begin(), node.inputs.begin() + kFactors,
                             [&](ValueId id) { return graph.value(id).type.dtype == ir::kF32; });
    if (wide) node.attributes[std::string(kOperandsAttribute)] = std::string("tf32");
  }
  return result;
}

}  // namespace

Result<Graph> lower_precision(const Graph& graph, const PassContext& context) {
  if (context.precision == ops::Precision::TF32) return marked(graph);
  if (!ops::is_narrow(context.precision)) return graph;
  return Narrowing(graph, ops::stored_type(context.precision)).run();
}

}  // namespace attune::graph

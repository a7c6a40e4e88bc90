// What is the same in every iteration of a loop is computed once, before it: nodes of the body that
// read only constants, captures and values that the loop carries without changing them. Their
// results become captures. A loop that runs no iteration computes them in vain; host operators,
// which may fail, stay where they are.
#include <algorithm>

#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

std::int64_t elements_read(const Graph& body, const Node& node) {
  std::int64_t most = 0;
  for (const ValueId id : node.inputs) {
    if (id != kNoValue) most = std::max(most, body.value(id).type.elements());
  }
  return most;
}

// Movement that makes a value larger is better done where it is read.
bool only_repeats(const Graph& body, const Node& node) {
  if (operator_of(node).kind != ops::OpKind::Injective) return false;
  return body.value(node.outputs[0]).type.elements() > elements_read(body, node);
}

class Hoister {
 public:
  Hoister(Rewriter& rewriter, int loop) : rewriter_(rewriter), loop_(loop) {
    const Node& node = rewriter_.node(loop_);
    body_ = *node.bodies[0];
    outside_.assign(body_.values.size(), kNoValue);
    const auto carried = static_cast<std::size_t>(integer_of(node, "carried"));
    const auto scanned = static_cast<std::size_t>(integer_of(node, "scanned"));
    const std::size_t condition = integer_of(node, "has_condition") != 0 ? 1 : 0;
    for (std::size_t i = 0; i < carried; ++i) {
      const ValueId id = body_.inputs[1 + i];
      if (body_.outputs[condition + i] == id) outside_of(id) = node.inputs[2 + i];
    }
    for (std::size_t i = 1 + carried + scanned; i < body_.inputs.size(); ++i) {
      outside_of(body_.inputs[i]) = node.inputs[i + 1];
    }
  }

  bool run() {
    const std::vector<Node> nodes = body_.nodes;
    body_.nodes.clear();
    for (const Node& node : nodes) {
      if (may_leave(node)) {
        hoist(node);
      } else {
        body_.nodes.push_back(node);
      }
    }
    return body_.nodes.size() < nodes.size() && commit();
  }

 private:
  ValueId& outside_of(ValueId id) { return outside_[static_cast<std::size_t>(id)]; }
  bool is_constant(ValueId id) const { return body_.value(id).constant != nullptr; }

  bool may_leave(const Node& node) {
    const ops::OpKind kind = operator_of(node).kind;
    if (kind == ops::OpKind::Host || kind == ops::OpKind::Control) return false;
    bool reads_capture = false;
    for (const ValueId id : node.inputs) {
      if (id == kNoValue || is_constant(id)) continue;
      if (outside_of(id) == kNoValue || !body_.value(id).type.extents.empty()) return false;
      reads_capture = true;
    }
    if (!reads_capture || only_repeats(body_, node)) return false;
    return std::none_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
      return std::count(body_.outputs.begin(), body_.outputs.end(), id) > 0 ||
             !body_.value(id).type.extents.empty();
    });
  }

  void hoist(const Node& node) {
    std::vector<ValueId> inputs;
    for (const ValueId id : node.inputs) {
      const bool constant = id != kNoValue && is_constant(id);
      inputs.push_back(id == kNoValue ? kNoValue
                       : constant
                           ? rewriter_.add_constant(body_.value(id).constant, body_.value(id).name)
                           : outside_of(id));
    }
    const std::vector<ValueId> outputs = rewriter_.add_copy(body_, node, std::move(inputs));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      outside_of(node.outputs[i]) = outputs[i];
      hoisted_.push_back(node.outputs[i]);
    }
  }

  // Hands the loop what its body still reads of the hoisted values.
  bool commit() {
    const Node& node = rewriter_.node(loop_);
    std::vector<ValueId> inputs = node.inputs;
    for (const ValueId id : hoisted_) {
      const bool read = std::any_of(body_.nodes.begin(), body_.nodes.end(), [&](const Node& each) {
        return std::count(each.inputs.begin(), each.inputs.end(), id) > 0;
      });
      if (!read) continue;
      inputs.push_back(outside_of(id));
      body_.inputs.push_back(id);
    }
    rewriter_.set_bodies(loop_, {std::make_shared<const Graph>(std::move(body_))});
    rewriter_.update(loop_, std::move(inputs), node.attributes);
    return true;
  }

  Rewriter& rewriter_;
  int loop_;
  Graph body_;
  std::vector<ValueId>
      outside_;  // by value of the body: the same value outside, if it never varies
  std::vector<ValueId> hoisted_;  // values of the body
};

}  // namespace

Result<Graph> hoist_invariants(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  rewrite_nodes(rewriter,
                [&](int n) { return rewriter.node(n).op == "loop" && Hoister(rewriter, n).run(); });
  return std::move(rewriter).finish();
}

}  // namespace attune::graph

// Control flow that is decided: a branch whose condition is known takes the place of its node.
// Bodies know the constants that they capture, and capture only what they read.
#include <algorithm>

#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

// How many inputs of the node are not captures.
std::size_t first_capture(const Node& node) {
  if (node.op == "if") return 1;
  return 2 + static_cast<std::size_t>(integer_of(node, "carried") + integer_of(node, "scanned"));
}

bool take_branch(Rewriter& rewriter, const Node& node) {
  if (node.op != "if") return false;
  const ConstantPtr condition = rewriter.constant_of(node.inputs[0]);
  if (condition == nullptr) return false;
  const Graph& body = *node.bodies[condition->integer(0) != 0 ? 0 : 1];
  std::vector<ValueId> here(body.values.size(), kNoValue);
  for (std::size_t i = 0; i < body.inputs.size(); ++i) {
    here[static_cast<std::size_t>(body.inputs[i])] = node.inputs[1 + i];
  }
  const auto known = [&](ValueId id) {
    if (id == kNoValue) return kNoValue;
    ValueId& place = here[static_cast<std::size_t>(id)];
    if (place == kNoValue) {
      place = rewriter.add_constant(body.value(id).constant, body.value(id).name);
    }
    return place;
  };
  for (const Node& inner : body.nodes) {
    std::vector<ValueId> inputs;
    for (const ValueId id : inner.inputs) inputs.push_back(known(id));
    const std::vector<ValueId> outputs = rewriter.add_copy(body, inner, std::move(inputs));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      here[static_cast<std::size_t>(inner.outputs[i])] = outputs[i];
    }
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    ValueId result = known(body.outputs[i]);
    const bool needs_name = rewriter.producer(result) < 0 || rewriter.is_output(result);
    if (rewriter.is_output(node.outputs[i]) && needs_name) result = rewriter.add_identity(result);
    rewriter.replace(node.outputs[i], result);
  }
  return true;
}

bool reads(const Graph& body, ValueId id) {
  return std::any_of(body.nodes.begin(), body.nodes.end(),
                     [&](const Node& node) {
                       return std::count(node.inputs.begin(), node.inputs.end(), id) > 0;
                     }) ||
         std::count(body.outputs.begin(), body.outputs.end(), id) > 0;
}

// Whether all bodies can do without being handed capture `c`: it is known, or nobody reads it. A
// body's result stays what a node computes, or what is handed to it.
bool can_drop(const Rewriter& rewriter, const Node& node, std::size_t input, std::size_t captures) {
  const ConstantPtr constant = rewriter.constant_of(node.inputs[input]);
  const std::size_t from_end = captures - (input - first_capture(node));
  return std::all_of(node.bodies.begin(), node.bodies.end(), [&](const auto& body) {
    const ValueId id = body->inputs[body->inputs.size() - from_end];
    const bool is_result = std::count(body->outputs.begin(), body->outputs.end(), id) > 0;
    return !is_result && (constant != nullptr || !reads(*body, id));
  });
}

bool drop_captures(Rewriter& rewriter, int n) {
  const Node& node = rewriter.node(n);
  const std::size_t first = first_capture(node);
  const std::size_t captures = node.inputs.size() - first;
  std::vector<std::size_t> dropped;
  for (std::size_t i = first; i < node.inputs.size(); ++i) {
    if (can_drop(rewriter, node, i, captures)) dropped.push_back(i);
  }
  if (dropped.empty()) return false;
  std::vector<std::shared_ptr<const Graph>> bodies;
  for (const auto& body : node.bodies) {
    Graph changed = *body;
    const std::size_t offset = changed.inputs.size() - captures;
    for (auto i = dropped.rbegin(); i != dropped.rend(); ++i) {
      const std::size_t place = offset + *i - first;
      changed.value(changed.inputs[place]).constant = rewriter.constant_of(node.inputs[*i]);
      changed.inputs.erase(changed.inputs.begin() + static_cast<std::ptrdiff_t>(place));
    }
    bodies.push_back(std::make_shared<const Graph>(std::move(changed)));
  }
  std::vector<ValueId> inputs = node.inputs;
  for (auto i = dropped.rbegin(); i != dropped.rend(); ++i) {
    inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(*i));
  }
  rewriter.set_bodies(n, std::move(bodies));
  rewriter.update(n, std::move(inputs), node.attributes);
  return true;
}

}  // namespace

Result<Graph> simplify_control(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  rewrite_nodes(rewriter, [&](int n) {
    const Node& node = rewriter.node(n);
    if (node.bodies.empty()) return false;
    return take_branch(rewriter, node) || drop_captures(rewriter, n);
  });
  return std::move(rewriter).finish();
}

}  // namespace attune::graph

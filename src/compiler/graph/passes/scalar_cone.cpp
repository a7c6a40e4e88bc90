#include "compiler/graph/passes/scalar_cone.h"

#include <algorithm>
#include <limits>
#include <map>

#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/scalar_functions.h"

namespace attune::graph {
namespace {

constexpr std::size_t kLargestCone = 16;

// A node that may be part of a cone: a known function, of the root's type.
bool fits(const Rewriter& rewriter, const Node& node, const TensorType& type) {
  const ScalarFunction* function = find_scalar_function(node.op);
  return function != nullptr && function->is_part && node.outputs.size() == 1 &&
         rewriter.type(node.outputs[0]) == type;
}

bool serves_only(const Rewriter& rewriter, ValueId id, const std::vector<int>& nodes) {
  if (rewriter.is_output(id)) return false;
  const std::vector<int>& users = rewriter.users(id);
  return std::all_of(users.begin(), users.end(), [&](int user) {
    return std::find(nodes.begin(), nodes.end(), user) != nodes.end();
  });
}

// Adds the inputs of a node to the frontier; false if a constant is not one number.
bool extend(const Rewriter& rewriter, const Node& node, std::vector<ValueId>& frontier) {
  for (const ValueId id : node.inputs) {
    if (id == kNoValue) continue;
    if (rewriter.constant_of(id) != nullptr) {
      if (!number_of(rewriter, id)) return false;
    } else if (std::find(frontier.begin(), frontier.end(), id) == frontier.end()) {
      frontier.push_back(id);
    }
  }
  return true;
}

}  // namespace

std::vector<Cone> cones_of(const Rewriter& rewriter, int root) {
  std::vector<Cone> cones;
  const TensorType& type = rewriter.type(rewriter.node(root).outputs[0]);
  std::vector<int> nodes{root};
  std::vector<ValueId> frontier;
  if (!type.dtype.is_float() || !fits(rewriter, rewriter.node(root), type) ||
      !extend(rewriter, rewriter.node(root), frontier)) {
    return cones;
  }
  while (nodes.size() < kLargestCone) {
    if (frontier.size() == 1 && nodes.size() > 1 && rewriter.type(frontier[0]) == type) {
      cones.push_back({frontier[0], nodes});
    }
    const auto next = std::find_if(frontier.begin(), frontier.end(), [&](ValueId id) {
      const Node* maker = rewriter.maker(id);
      return maker != nullptr && fits(rewriter, *maker, type) && serves_only(rewriter, id, nodes);
    });
    if (next == frontier.end()) break;
    const int node = rewriter.producer(*next);
    frontier.erase(next);
    nodes.push_back(node);
    if (!extend(rewriter, rewriter.node(node), frontier)) break;
  }
  return cones;
}

double evaluate_cone(const Rewriter& rewriter, const Cone& cone, double x) {
  std::map<ValueId, double> known{{cone.input, x}};
  for (auto n = cone.nodes.rbegin(); n != cone.nodes.rend(); ++n) {
    const Node& node = rewriter.node(*n);
    std::vector<double> arguments;
    for (const ValueId id : node.inputs) {
      const auto found = known.find(id);
      if (found != known.end()) {
        arguments.push_back(found->second);
      } else {
        arguments.push_back(id == kNoValue ? std::numeric_limits<double>::quiet_NaN()
                                           : rewriter.constant_of(id)->real(0));
      }
    }
    known[node.outputs[0]] = find_scalar_function(node.op)->value(node.attributes, arguments);
  }
  return known[rewriter.node(cone.nodes.front()).outputs[0]];
}

}  // namespace attune::graph

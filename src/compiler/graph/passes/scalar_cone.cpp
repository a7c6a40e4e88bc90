#include "compiler/graph/passes/scalar_cone.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "compiler/graph/passes/match.h"

namespace attune::graph {
namespace {

constexpr std::size_t kLargestCone = 16;

using Arguments = std::vector<double>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

struct Function {
  std::string_view op;
  double (*value)(const Node& node, const Arguments& arguments);
};

// Operators that a cone may have, on the values of their inputs (NaN: left out).
constexpr std::array kFunctions{
    Function{"add", [](const Node&, const Arguments& a) { return a[0] + a[1]; }},
    Function{"sub", [](const Node&, const Arguments& a) { return a[0] - a[1]; }},
    Function{"mul", [](const Node&, const Arguments& a) { return a[0] * a[1]; }},
    Function{"div", [](const Node&, const Arguments& a) { return a[0] / a[1]; }},
    Function{"pow", [](const Node&, const Arguments& a) { return std::pow(a[0], a[1]); }},
    Function{"min",
             [](const Node&, const Arguments& a) { return *std::min_element(a.begin(), a.end()); }},
    Function{"max",
             [](const Node&, const Arguments& a) { return *std::max_element(a.begin(), a.end()); }},
    Function{"clip",
             [](const Node&, const Arguments& a) {
               double value = a[0];
               if (a.size() > 1 && !std::isnan(a[1])) value = std::max(value, a[1]);
               return a.size() > 2 && !std::isnan(a[2]) ? std::min(value, a[2]) : value;
             }},
    Function{"neg", [](const Node&, const Arguments& a) { return -a[0]; }},
    Function{"abs", [](const Node&, const Arguments& a) { return std::abs(a[0]); }},
    Function{"reciprocal", [](const Node&, const Arguments& a) { return 1 / a[0]; }},
    Function{"sqrt", [](const Node&, const Arguments& a) { return std::sqrt(a[0]); }},
    Function{"exp", [](const Node&, const Arguments& a) { return std::exp(a[0]); }},
    Function{"log", [](const Node&, const Arguments& a) { return std::log(a[0]); }},
    Function{"erf", [](const Node&, const Arguments& a) { return std::erf(a[0]); }},
    Function{"tanh", [](const Node&, const Arguments& a) { return std::tanh(a[0]); }},
    Function{"relu", [](const Node&, const Arguments& a) { return std::max(a[0], 0.0); }},
    Function{"sigmoid", [](const Node&, const Arguments& a) { return sigmoid(a[0]); }},
    Function{"softplus", [](const Node&, const Arguments& a) { return softplus(a[0]); }},
    Function{"hard_sigmoid",
             [](const Node& node, const Arguments& a) {
               const double line = a[0] * real_of(node, "alpha") + real_of(node, "beta");
               return std::clamp(line, 0.0, 1.0);
             }},
};

const Function* function_of(const Node& node) {
  const auto found = std::find_if(kFunctions.begin(), kFunctions.end(),
                                  [&](const Function& function) { return function.op == node.op; });
  return found == kFunctions.end() ? nullptr : &*found;
}

// A node that may be part of a cone: a known function, of the root's type.
bool fits(const Rewriter& rewriter, const Node& node, const TensorType& type) {
  return function_of(node) != nullptr && node.outputs.size() == 1 &&
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
    Arguments arguments;
    for (const ValueId id : node.inputs) {
      const auto found = known.find(id);
      if (found != known.end()) {
        arguments.push_back(found->second);
      } else {
        arguments.push_back(id == kNoValue ? std::numeric_limits<double>::quiet_NaN()
                                           : rewriter.constant_of(id)->real(0));
      }
    }
    known[node.outputs[0]] = function_of(node)->value(node, arguments);
  }
  return known[rewriter.node(cone.nodes.front()).outputs[0]];
}

}  // namespace attune::graph

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

constexpr int kRounds = 4;

bool is_disabled(const Pass& pass, const PassOptions& options) {
  const auto& off = options.disabled;
  return std::find(off.begin(), off.end(), pass.name) != off.end();
}

// Whether two graphs have the same nodes in the same order; numbers of values included, which are
// the same if dead code was removed from both.
bool same_nodes(const Graph& a, const Graph& b) {
  const auto same = [](const Node& x, const Node& y) {
    return x.op == y.op && x.inputs == y.inputs && x.outputs == y.outputs &&
           x.attributes == y.attributes && x.bodies == y.bodies;
  };
  return a.outputs == b.outputs && a.values.size() == b.values.size() &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), same);
}

// The pass on the bodies of control flow, innermost first, then on the graph. Bodies that do not
// change stay the same objects.
Result<Graph> run_everywhere(const Pass& pass, const Graph& graph, const PassContext& context) {
  Graph changed = graph;
  for (Node& node : changed.nodes) {
    for (std::shared_ptr<const Graph>& body : node.bodies) {
      ATTUNE_ASSIGN(Graph inner, run_everywhere(pass, *body, context));
      if (!same_nodes(inner, *body)) body = std::make_shared<const Graph>(std::move(inner));
    }
  }
  ATTUNE_ASSIGN(Graph result, pass.run(changed, context));
  if (const Status verified = verify(result); !verified.ok()) {
    return Error{verified.error().code,
                 fmt::format("after pass '{}': {}", pass.name, verified.error().message),
                 fmt::format("leave out the pass '{}'", pass.name)};
  }
  return result;
}

}  // namespace

std::span<const Pass> passes() {
  static constexpr Pass all[] = {
      {"fold_constants", "small nodes of constants become constants", fold_constants},
      {"simplify_control", "decided branches, constants known to bodies", simplify_control},
      {"simplify_views", "reshapes, transposes and the like that do nothing", simplify_views},
      {"simplify_arithmetic", "arithmetic with constants that does nothing", simplify_arithmetic},
      {"merge_equal_nodes", "equal nodes and equal constants become one", merge_equal_nodes},
      {"recognise_activations", "activations that are written out", recognise_activations},
      {"recognise_rows", "softmax and normalisations that are written out", recognise_rows},
      {"recognise_pools", "means of whole images are global pools", recognise_pools},
      {"expand_einsum", "sums of products by labels are matrix products", expand_einsum},
      {"expand_batch_norm", "normalisations by constants are products and sums", expand_batch_norm},
      {"hoist_scales", "the scale of attention goes to the queries or keys", hoist_scales},
      {"fold_scales", "products and sums per channel go into weights and bias", fold_scales},
      {"fold_padding", "pads in front of convolutions and pools go into them", fold_padding},
      {"sink_movement", "transposes and reshapes go behind arithmetic", sink_movement},
      {"combine_products", "matrix products of one input become one", combine_products},
      {"remove_dead_code", "nodes and values that no output needs", remove_dead_code},
  };
  return all;
}

Result<Graph> optimise(Graph graph, const PassOptions& options) {
  using Clock = std::chrono::steady_clock;
  for (const std::string& name : options.disabled) {
    const bool known = std::any_of(passes().begin(), passes().end(),
                                   [&](const Pass& pass) { return pass.name == name; });
    if (!known) return invalid(fmt::format("there is no graph pass '{}'", name));
  }
  for (int round = 0; round < kRounds; ++round) {
    const Graph before = graph;
    for (const Pass& pass : passes()) {
      if (is_disabled(pass, options)) continue;
      const auto start = Clock::now();
      ATTUNE_ASSIGN(graph, run_everywhere(pass, graph, options.context));
      const std::chrono::duration<double, std::milli> spent = Clock::now() - start;
      if (options.observe) options.observe(pass.name, graph, spent.count());
    }
    if (same_nodes(before, graph)) break;
  }
  return graph;
}

}  // namespace attune::graph

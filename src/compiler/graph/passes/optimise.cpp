#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>

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

// The operators of a graph and of the bodies in it.
void collect_operators(const Graph& graph, std::set<std::string, std::less<>>& names) {
  for (const Node& node : graph.nodes) {
    names.insert(node.op);
    for (const auto& body : node.bodies) collect_operators(*body, names);
  }
}

bool concerns(const Pass& pass, const Graph& graph) {
  if (pass.operators.empty()) return true;
  std::set<std::string, std::less<>> names;
  collect_operators(graph, names);
  std::string_view left = pass.operators;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find(' '), left.size());
    if (names.find(left.substr(0, end)) != names.end()) return true;
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return false;
}

Result<Graph> run_everywhere(const Pass& pass, const Graph& graph, const PassContext& context);

// The graph with the pass run on the bodies of its control flow; nothing if there are none. Bodies
// that do not change stay the same objects.
Result<std::optional<Graph>> run_on_bodies(const Pass& pass, const Graph& graph,
                                           const PassContext& context) {
  const bool flat = std::all_of(graph.nodes.begin(), graph.nodes.end(),
                                [](const Node& node) { return node.bodies.empty(); });
  if (flat) return std::optional<Graph>();
  Graph changed = graph;
  for (Node& node : changed.nodes) {
    for (std::shared_ptr<const Graph>& body : node.bodies) {
      ATTUNE_ASSIGN(Graph inner, run_everywhere(pass, *body, context));
      if (!same_nodes(inner, *body)) body = std::make_shared<const Graph>(std::move(inner));
    }
  }
  return std::optional(std::move(changed));
}

Result<Graph> run_everywhere(const Pass& pass, const Graph& graph, const PassContext& context) {
  ATTUNE_ASSIGN(const std::optional<Graph> changed, run_on_bodies(pass, graph, context));
  ATTUNE_ASSIGN(Graph result, pass.run(changed ? *changed : graph, context));
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
      {"widen_halves", "f16 and bf16 are f32 between operators", widen_halves},
      {"simplify_control", "decided branches, constants known to bodies", simplify_control,
       "if loop"},
      {"hoist_invariants", "what a loop computes anew each time goes before it", hoist_invariants,
       "loop"},
      {"simplify_views", "reshapes, transposes and the like that do nothing", simplify_views},
      {"recognise_activations", "activations that are written out", recognise_activations},
      {"simplify_arithmetic", "arithmetic with constants that does nothing", simplify_arithmetic},
      {"merge_equal_nodes", "equal nodes and equal constants become one", merge_equal_nodes},
      {"recognise_rows", "softmax and normalisations that are written out", recognise_rows,
       "reduce_mean reduce_sum layer_norm rms_norm softmax"},
      {"recognise_masks", "masks that are bands become a rule", recognise_masks, "softmax"},
      {"recognise_pools", "means of whole images are global pools", recognise_pools,
       "reduce_mean reduce_max"},
      {"expand_einsum", "sums of products by labels are matrix products", expand_einsum, "einsum"},
      {"expand_batch_norm", "normalisations by constants are products and sums", expand_batch_norm,
       "batch_norm"},
      {"hoist_scales", "the scale of attention goes to the queries or keys", hoist_scales,
       "matmul"},
      {"fold_scales", "products and sums per channel go into weights and bias", fold_scales,
       "conv conv_transpose matmul"},
      {"fold_padding", "pads in front of convolutions and pools go into them", fold_padding, "pad"},
      {"flatten_depth", "convolutions in three dimensions become ones in two", flatten_depth,
       "conv"},
      {"sink_movement", "transposes and reshapes go behind arithmetic", sink_movement,
       "transpose reshape"},
      {"combine_products", "matrix products of one input become one", combine_products, "matmul"},
      {"combine_convolutions", "convolutions of one input become one", combine_convolutions,
       "conv"},
      {"remove_dead_code", "nodes and values that no output needs", remove_dead_code},
      {.name = "lower_precision",
       .meaning = "heavy operators and what lies between them in 16 bits, where that is asked for",
       .run = lower_precision,
       .last = true},
  };
  return all;
}

namespace {

Status run_timed(const Pass& pass, const PassOptions& options, Graph& graph, int& version) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  ATTUNE_ASSIGN(Graph result, run_everywhere(pass, graph, options.context));
  if (!same_nodes(result, graph)) ++version;
  graph = std::move(result);
  const std::chrono::duration<double, std::milli> spent = Clock::now() - start;
  if (options.observe) options.observe(pass.name, graph, spent.count());
  return {};
}

}  // namespace

Result<Graph> optimise(Graph graph, const PassOptions& options) {
  for (const std::string& name : options.disabled) {
    const bool known = std::any_of(passes().begin(), passes().end(),
                                   [&](const Pass& pass) { return pass.name == name; });
    if (!known) return invalid(fmt::format("there is no graph pass '{}'", name));
  }
  int version = 0;                       // of the graph
  std::map<std::string_view, int> seen;  // by a pass
  for (int round = 0; round < kRounds; ++round) {
    const int before = version;
    for (const Pass& pass : passes()) {
      const auto last = seen.find(pass.name);
      if (pass.last || is_disabled(pass, options) ||
          (last != seen.end() && last->second == version)) {
        continue;
      }
      seen[pass.name] = version;
      if (concerns(pass, graph)) ATTUNE_RETURN_IF_ERROR(run_timed(pass, options, graph, version));
    }
    if (version == before) break;
  }
  for (const Pass& pass : passes()) {
    if (!pass.last || is_disabled(pass, options)) continue;
    ATTUNE_RETURN_IF_ERROR(run_timed(pass, options, graph, version));
  }
  return graph;
}

}  // namespace attune::graph

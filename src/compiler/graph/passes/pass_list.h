// The passes, one function per file; optimise.cpp puts them in order.
#pragma once

#include "compiler/graph/passes/passes.h"

namespace attune::graph {

Result<Graph> fold_constants(const Graph& graph, const PassContext& context);
Result<Graph> widen_halves(const Graph& graph, const PassContext& context);
Result<Graph> simplify_control(const Graph& graph, const PassContext& context);
Result<Graph> hoist_invariants(const Graph& graph, const PassContext& context);
Result<Graph> simplify_views(const Graph& graph, const PassContext& context);
Result<Graph> simplify_arithmetic(const Graph& graph, const PassContext& context);
Result<Graph> recognise_activations(const Graph& graph, const PassContext& context);
Result<Graph> recognise_rows(const Graph& graph, const PassContext& context);
Result<Graph> recognise_masks(const Graph& graph, const PassContext& context);
Result<Graph> recognise_pools(const Graph& graph, const PassContext& context);
Result<Graph> expand_einsum(const Graph& graph, const PassContext& context);
Result<Graph> expand_batch_norm(const Graph& graph, const PassContext& context);
Result<Graph> hoist_scales(const Graph& graph, const PassContext& context);
Result<Graph> fold_scales(const Graph& graph, const PassContext& context);
Result<Graph> fold_padding(const Graph& graph, const PassContext& context);
Result<Graph> flatten_depth(const Graph& graph, const PassContext& context);
Result<Graph> sink_movement(const Graph& graph, const PassContext& context);
Result<Graph> merge_equal_nodes(const Graph& graph, const PassContext& context);
Result<Graph> combine_products(const Graph& graph, const PassContext& context);
Result<Graph> combine_convolutions(const Graph& graph, const PassContext& context);
Result<Graph> remove_dead_code(const Graph& graph, const PassContext& context);
Result<Graph> lower_precision(const Graph& graph, const PassContext& context);

}  // namespace attune::graph

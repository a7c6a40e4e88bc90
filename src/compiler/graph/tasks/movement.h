// Movement: operators that put elements in other places and do nothing else to them (views,
// transposes, slices). A matrix product reads its operands through a chain of such operators right
// where the elements lie, so that heads of attention, for one, are never copied apart.
#pragma once

#include <functional>
#include <set>

#include "compiler/graph/graph.h"

namespace attune::graph {

bool is_movement(const Graph& graph, const Node& node);

// Whether elements that are neighbours along the last dimension of the result are neighbours in the
// operand too.
bool keeps_neighbours(const Graph& graph, const Node& node);

// The element of `id` at `index`, read from behind the given nodes, which are movement; `outside`
// reads values that none of them computes.
using ReadValue = std::function<ir::Expr(ValueId id, const std::vector<ir::Expr>& index)>;
ir::Expr moved_element(const Graph& graph, const std::set<int>& nodes, ValueId id,
                       const std::vector<ir::Expr>& index, const ReadValue& outside);

// An index into `shape`, of which the leading dimensions are merged into one.
std::vector<ir::Expr> unmerged_index(const std::vector<std::int64_t>& shape,
                                     const std::vector<ir::Expr>& merged);

}  // namespace attune::graph

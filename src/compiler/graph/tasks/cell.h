// Cells: a product of a matrix with weights whose columns are equal parts, the gates of a recurrent
// network, and the arithmetic that makes one value of the parts, as one task. Columns of the same
// number belong together, so that a tile has all parts of a few of them and the rest is done while
// they are in registers. In the task columns have two axes, the part `g` and the one within it.
#pragma once

#include <optional>

#include "compiler/graph/tasks/tasks.h"

namespace attune::graph {

// The nodes of each cell of the graph, products first; no node is in two of them.
std::vector<std::vector<int>> find_cells(const Graph& graph);

// How many columns a part has; nothing when the group is no cell.
std::optional<std::int64_t> columns_of_part(const Graph& graph, const Group& group);
// The task of a cell, from that of its nodes without parts.
Result<Task> cell(Task whole, std::int64_t columns);

}  // namespace attune::graph

// Values that need no memory of their own because they lie within another value: views, contiguous
// slices, and the operands of a concatenation whose pieces follow each other in memory, which are
// computed right where the result wants them.
#pragma once

#include <optional>
#include <vector>

#include "compiler/graph/graph.h"

namespace attune::graph {

struct Piece {
  ValueId whole = kNoValue;
  std::int64_t offset = 0;  // in bytes; a multiple of 64 for values that nodes read
};

struct Pieces {
  // For each value the value that it lies in, itself with offset 0 when it has its own memory.
  std::vector<Piece> of_value;
  // For each node whether it needs no kernel. Operands of a concatenation that could not be placed
  // in it are still to be copied.
  std::vector<bool> is_free;
};

// Layouts must be assigned. Inputs of the graph always have their own memory, and so have outputs
// unless they are copied from where they lie, as those of the bodies of loops are.
Pieces find_pieces(const Graph& graph, bool copies_outputs = false);

// Byte offsets of a concatenation's operands in its result, when they follow each other there.
std::optional<std::vector<std::int64_t>> operand_offsets(const Graph& graph, const Node& node);

}  // namespace attune::graph

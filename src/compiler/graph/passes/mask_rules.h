// Masks as rules: what the elements of a matrix that is made of constants are by their row and
// column, without computing them. Exporters write masks out as triangles, comparisons of positions
// and choices, which are too large to be computed by an interpreter, and say very little.
#pragma once

#include <optional>

#include "compiler/graph/passes/rewriter.h"

namespace attune::graph {

// The elements of the last two dimensions of a value; along all others they are repeated.
struct MaskRule {
  enum class Kind {
    Band,     // `inside` where low <= column - row <= high, `outside` elsewhere
    Rows,     // numbered: `first` and one more for each row
    Columns,  // the same by columns
  };
  Kind kind = Kind::Band;
  double inside = 0, outside = 0;
  std::int64_t low = 0, high = 0;
  std::int64_t first = 0;

  bool is_uniform() const { return kind == Kind::Band && inside == outside; }
};

// Nothing where a value is not of this kind, or depends on what the run decides.
std::optional<MaskRule> mask_rule(const Rewriter& rewriter, ValueId id);

// Band and complement change places where the band has one end only; nothing where it has two.
std::optional<MaskRule> complement(const MaskRule& band);

}  // namespace attune::graph

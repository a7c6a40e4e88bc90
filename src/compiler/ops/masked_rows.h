// Softmax of rows that may have nothing but minus infinity, as those of queries that may see no
// key: they become 0, not NaN. Neither changes anything for other rows: a maximum that is finite
// stays, and their sums, to which the greatest element adds 1, are too large for the term.
#pragma once

#include "compiler/ir/nodes/expr.h"

namespace attune::ops {

// What is subtracted from the elements of a row, by its maximum.
ir::Expr finite_greatest(const ir::Expr& greatest);
// What exponentials of a row are divided by, by their sum.
ir::Expr positive_sum(const ir::Expr& sum);

}  // namespace attune::ops

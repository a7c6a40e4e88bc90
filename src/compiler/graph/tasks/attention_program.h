// The programs of attention (attention.h), from those of its two products.
#pragma once

#include "base/result.h"
#include "compiler/ir/nodes/tensor_expr.h"

namespace attune::graph {

struct AttentionPrograms {
  ir::Program scores, product;  // end in the stage `output`
  std::size_t weights;          // which input of the second product the softmax of the scores is
  bool masked = false;          // the softmax gives 0 for rows of minus infinity alone
};

// All scores of a row are known before the first of its exponentials.
Result<ir::Program> whole_rows(AttentionPrograms parts);

// Rows are cut into parts of so many keys; each has a maximum of its own, and the results of the
// parts are weighted by what theirs are beside the largest (as in "Flash-Decoding", Dao et al.,
// 2023). For rows that are too long for the caches.
//   weights.max, weights.exp, weights.sum, anchor   of each part
//   parts   the product of a part, its maximum and its sum, side by side
//   total.max, total.exp, total.sum, mixed   of the parts of a row
Result<ir::Program> rows_in_parts(AttentionPrograms parts, std::int64_t keys);

}  // namespace attune::graph

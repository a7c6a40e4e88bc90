// Attention: a product of two matrices (queries and keys), the softmax of its rows, and the product
// of these with a third one (values), as one task. Whatever elementwise operators stand before the
// softmax (scale, masks, caps) belong to it. What lies between the two products is computed for a
// few rows at a time: the matrix of all scores never exists.
//   scores.anchor, …, scores.output   the first product with all that is done to it
//   weights.max, weights.exp, weights.sum   of each row
//   anchor, …, output                 the second product, divided by the sum of its row
// Where keys count by their place alone (band_mask), the max, the exponentials, the sum and the
// second product say so too, and who computes them may leave out the others (lower/skips.h).
// Rows of many keys may also be computed in parts (algorithm `parts`, attention_program.h).
// Rows are divided by their sums behind the second product, which has fewer columns (Milakov and
// Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al., "FlashAttention",
// 2022).
#pragma once

#include <optional>

#include "compiler/graph/tasks/tasks.h"

namespace attune::graph {

// Numbers of nodes.
struct AttentionNodes {
  int scores, softmax, product;
};

// Whether the three, each of which reads the one before it, can be one task. Casts may stand before
// and behind the softmax.
bool may_attend(const Graph& graph, const AttentionNodes& nodes);

// The groups of the two products; nothing when the group is no attention.
struct AttentionParts {
  Group scores, product;
  ValueId weights =
      kNoValue;  // that the second product reads: of the softmax, or rounded behind it
};
std::optional<AttentionParts> cut_attention(const Graph& graph, const Group& group);
// The task of the whole, from those of the two products.
Result<Task> attention(const Graph& graph, Task scores, Task product, ValueId weights);

}  // namespace attune::graph

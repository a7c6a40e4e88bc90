// Attention of `heads` heads: softmax(q kᵀ / √d) v, with q [b, heads, m, d], k [b, kv, n, d] and
// v [b, kv, n, e]; heads / kv heads of queries share one of keys and values. Causal: the last query
// sees all keys, each before it one less.
#pragma once

#include "compiler/ops/forms/family.h"

namespace attune::ops {

// With fewer queries there are few scores and empty vectors: products and softmax stay kernels of
// their own.
inline constexpr std::int64_t kFewestQueries = 8;

struct AttentionOptions {
  std::int64_t b = 1, heads = 1, kv = 1, m = 1, n = 1, d = 1, e = 1;
  bool causal = false;
  ir::DType dtype = ir::kF32;
};

// Those of the two products, for the scores that count.
double flops(const AttentionOptions& options);
Result<ir::Program> build_attention(const AttentionOptions& options);

}  // namespace attune::ops

// Strassen's way to multiply: matrices in quarters need seven products of sums of quarters instead
// of eight products. With constant weights their sums are made ahead of time.
//
// Stages: `filter.sums` (p, k, j), the sums of quarters of the weights; `sums` (p, i, k), those of
// the data; `anchor` (p, i, j), the products, reduced over k; `quarters` (u, i, v, j), the result
// by quarters; `output`.
#pragma once

#include <functional>

#include "compiler/ops/forms/matmul.h"
#include "compiler/ops/operator.h"

namespace attune::ops {

// The element of a matrix in a row and column.
using MatrixElement = std::function<ir::Expr(const ir::Expr& row, const ir::Expr& column)>;
// The stages up to `quarters`, for products of the size `quarter`.
ir::Buffer add_seven_products(ir::Program& program, const MatmulOptions& quarter,
                              const MatrixElement& left, const MatrixElement& right);

// Whether the product of a run-time matrix with constant weights has this form, and is large enough
// that an eighth of the multiplications may be worth the additions.
bool strassen_applies(const MatmulOptions& options);
// The inputs are those of build_dense().
Result<AlgorithmDef> build_strassen(const MatmulOptions& options);

}  // namespace attune::ops

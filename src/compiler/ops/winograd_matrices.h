// The matrices of Winograd's minimal filtering F(m, 3) (Winograd 1980; Lavin and Gray, "Fast
// Algorithms for Convolutional Neural Networks", 2016): m outputs of a filter with three taps from
// m + 2 multiplications, y = A^T [(G g) * (B^T d)]. They are made by transposing Toom-Cook
// multiplication over the points 0, 1, -1, 2, -2, 1/2, -1/2 and infinity.
#pragma once

#include <vector>

#include "compiler/ir/expr.h"

namespace attune::ops {

using Matrix = std::vector<std::vector<double>>;

struct WinogradMatrices {
  Matrix input;   // B^T, t x t with t = m + 2
  Matrix filter;  // G, t x 3
  Matrix output;  // A^T, m x t
};

// m is 2, 4 or 6.
WinogradMatrices winograd_matrices(int m);

// How the terms of a row are bracketed, so that rows that belong to the points a and -a share
// subexpressions: by the parity of the column (rows of B^T), or column by neighbouring column
// (A^T).
enum class Bracket { Parity, Pairs };

// Row `row` (an index expression) of matrix * terms, as a choice among explicit sums without
// multiplications by 0 or 1; when `row` becomes a constant only its sum is left.
ir::Expr transform(const Matrix& matrix, const ir::Expr& row, const std::vector<ir::Expr>& terms,
                   Bracket bracket);

}  // namespace attune::ops

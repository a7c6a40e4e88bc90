// The matrices of Winograd's minimal filtering F(m, r) (Winograd 1980; Lavin and Gray, "Fast
// Algorithms for Convolutional Neural Networks", 2016): m outputs of a filter with r taps from
// m + r - 1 multiplications, y = A^T [(G g) * (B^T d)]. They are made by transposing Toom-Cook
// multiplication over infinity and a few small numbers.
#pragma once

#include <vector>

#include "compiler/ir/nodes/expr.h"

namespace attune::ops {

using Matrix = std::vector<std::vector<double>>;

struct WinogradMatrices {
  Matrix input;   // B^T, t x t with t = m + r - 1
  Matrix filter;  // G, t x r
  Matrix output;  // A^T, m x t
};

// At least two outputs and taps, at most 8 = m + taps - 1 points.
WinogradMatrices winograd_matrices(int m, int taps = 3);

// How the terms of a row are bracketed, so that rows that belong to the points a and -a share
// subexpressions: by the parity of the column (rows of B^T), or column by neighbouring column
// (A^T).
enum class Bracket { Parity, Pairs };

// Row `row` (an index expression) of matrix * terms, as a choice among explicit sums without
// multiplications by 0 or 1; when `row` becomes a constant only its sum is left.
ir::Expr transform(const Matrix& matrix, const ir::Expr& row, const std::vector<ir::Expr>& terms,
                   Bracket bracket);

}  // namespace attune::ops

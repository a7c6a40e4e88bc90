#include "compiler/ops/algorithms/winograd_matrices.h"

#include <cmath>
#include <optional>

#include "base/check.h"

namespace attune::ops {
namespace {

// Coefficients, lowest first, of the product of (x - a) over all points but `without`.
std::vector<double> product_of_roots(const std::vector<double>& points,
                                     std::optional<std::size_t> without) {
  std::vector<double> polynomial{1};
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (k == without) continue;
    std::vector<double> next(polynomial.size() + 1, 0);
    for (std::size_t i = 0; i < polynomial.size(); ++i) {
      next[i + 1] += polynomial[i];
      next[i] -= points[k] * polynomial[i];
    }
    polynomial = std::move(next);
  }
  return polynomial;
}

struct Term {
  double factor;
  ir::Expr value;
};

// sum + factor * value; a sum that is still empty begins with the term.
ir::Expr add_term(const ir::Expr& sum, const Term& term) {
  const double size = std::abs(term.factor);
  const ir::Expr scaled =
      size == 1 ? term.value : term.value * ir::float_imm(size, term.value.type());
  if (sum) return term.factor > 0 ? sum + scaled : sum - scaled;
  return term.factor > 0 ? scaled : term.value * ir::float_imm(term.factor, term.value.type());
}

// The sum of the terms without the factor of the last one, and that factor.
Term bracketed(const std::vector<Term>& terms) {
  const double factor = terms.back().factor;
  ir::Expr sum;
  for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
    sum = add_term(sum, {term->factor / factor, term->value});
  }
  return {factor, sum};
}

std::vector<Term> by_parity(const std::vector<Term>& terms) {
  std::vector<Term> result;
  for (const std::size_t parity : {0, 1}) {
    std::vector<Term> group;
    for (std::size_t i = parity; i < terms.size(); i += 2) {
      if (terms[i].factor != 0) group.push_back(terms[i]);
    }
    if (!group.empty()) result.push_back(bracketed(group));
  }
  return result;
}

std::vector<Term> by_pairs(const std::vector<Term>& terms) {
  std::vector<Term> result;
  const auto push = [&](const Term& term) {
    if (term.factor != 0) result.push_back(term);
  };
  push(terms[0]);
  for (std::size_t i = 1; i < terms.size(); i += 2) {
    const bool pair = i + 1 < terms.size() && terms[i].factor != 0 &&
                      std::abs(terms[i].factor) == std::abs(terms[i + 1].factor);
    if (pair) {
      const ir::Expr& a = terms[i].value;
      const ir::Expr& b = terms[i + 1].value;
      push({terms[i].factor, terms[i].factor == terms[i + 1].factor ? a + b : a - b});
    } else {
      push(terms[i]);
      if (i + 1 < terms.size()) push(terms[i + 1]);
    }
  }
  return result;
}

ir::Expr row_sum(const std::vector<double>& row, const std::vector<ir::Expr>& values,
                 Bracket bracket) {
  std::vector<Term> terms;
  for (std::size_t i = 0; i < row.size(); ++i) terms.push_back({row[i], values[i]});
  terms = bracket == Bracket::Parity ? by_parity(terms) : by_pairs(terms);
  CHECK(!terms.empty(), "a transform has no row of zeros");
  ir::Expr sum;
  for (const Term& term : terms) sum = add_term(sum, term);
  return sum;
}

// Points that keep the rounding errors of f32 small, found by trying all multiples of 1/16 and 1/8
// on random data: with four and five points their root mean square is 0.6 and 0.45 times that of
// the usual points 0, 1, -1, 2 (and -2); with other numbers the usual ones are as good as any. All
// entries of B^T and A^T are exact in f32.
std::vector<double> points_for(std::size_t count) {
  if (count == 4) return {0, 0.75, -0.75, 1.75};
  if (count == 5) return {0, 0.625, -0.625, 1.5, -1.5};
  std::vector<double> points{0, 1, -1, 2, -2, 0.5, -0.5};
  points.resize(count);
  return points;
}

}  // namespace

WinogradMatrices winograd_matrices(int m, int taps) {
  CHECK(m >= 2 && taps >= 2 && m + taps <= 9, "winograd works on tiles of up to 8 inputs");
  const std::size_t tile = static_cast<std::size_t>(m + taps - 1);
  const std::vector<double> points = points_for(tile - 1);

  WinogradMatrices matrices;
  matrices.output.assign(static_cast<std::size_t>(m), std::vector<double>(tile, 0));
  for (std::size_t j = 0; j < points.size(); ++j) {
    double scale = 1;
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (k != j) scale *= points[j] - points[k];
    }
    std::vector<double> row = product_of_roots(points, j);
    row.resize(tile, 0);
    matrices.input.push_back(row);
    std::vector<double> powers{1 / scale};
    for (int k = 1; k < taps; ++k) powers.push_back(powers.back() * points[j]);
    matrices.filter.push_back(std::move(powers));
    double power = 1;
    for (auto& output_row : matrices.output) {
      output_row[j] = power;
      power *= points[j];
    }
  }
  matrices.input.push_back(product_of_roots(points, std::nullopt));
  matrices.filter.emplace_back(static_cast<std::size_t>(taps), 0).back() = 1;
  matrices.output.back().back() = 1;
  return matrices;
}

ir::Expr transform(const Matrix& matrix, const ir::Expr& row, const std::vector<ir::Expr>& terms,
                   Bracket bracket) {
  ir::Expr value = row_sum(matrix.back(), terms, bracket);
  for (std::size_t i = matrix.size() - 1; i-- > 0;) {
    value = ir::select(row == ir::Expr(static_cast<std::int64_t>(i)),
                       row_sum(matrix[i], terms, bracket), value);
  }
  return value;
}

}  // namespace attune::ops

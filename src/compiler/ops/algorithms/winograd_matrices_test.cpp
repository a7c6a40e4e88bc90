#include "compiler/ops/algorithms/winograd_matrices.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace attune::ops {
namespace {

TEST(WinogradMatrices, OfTwoOutputsAreTheWellKnownOnes) {
  const WinogradMatrices matrices = winograd_matrices(2);
  EXPECT_EQ(matrices.input, (Matrix{{-1, 0, 1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}}));
  EXPECT_EQ(matrices.output, (Matrix{{1, 1, 1, 0}, {0, 1, -1, 1}}));
  EXPECT_EQ(matrices.filter[1], (std::vector<double>{0.5, 0.5, 0.5}));
}

// What is multiplied with run-time values is the same in f32 as in f64.
TEST(WinogradMatrices, OfDataAreExactInSinglePrecision) {
  for (int m = 2; m <= 6; ++m) {
    const WinogradMatrices matrices = winograd_matrices(m);
    for (const Matrix* matrix : {&matrices.input, &matrices.output}) {
      for (const auto& row : *matrix) {
        for (const double entry : row) EXPECT_EQ(static_cast<float>(entry), entry) << m;
      }
    }
  }
}

// The root mean square error of F(m, 3) of random numbers in f32, over many outputs.
double rounding_error(const WinogradMatrices& matrices) {
  Rng rng(1);
  double errors = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> data, filter;
    for (std::size_t i = 0; i < matrices.input.size(); ++i) {
      data.push_back(static_cast<float>(2 * rng.uniform() - 1));
    }
    for (int i = 0; i < 3; ++i) filter.push_back(static_cast<float>(2 * rng.uniform() - 1));
    std::vector<float> products;
    for (std::size_t j = 0; j < matrices.input.size(); ++j) {
      float value = 0;
      double weight = 0;
      for (std::size_t i = 0; i < data.size(); ++i) {
        value += static_cast<float>(matrices.input[j][i]) * static_cast<float>(data[i]);
      }
      for (std::size_t i = 0; i < filter.size(); ++i) weight += matrices.filter[j][i] * filter[i];
      products.push_back(value * static_cast<float>(weight));
    }
    for (std::size_t y = 0; y < matrices.output.size(); ++y) {
      float sum = 0;
      for (std::size_t j = 0; j < products.size(); ++j) {
        sum += static_cast<float>(matrices.output[y][j]) * products[j];
      }
      const double right = filter[0] * data[y] + filter[1] * data[y + 1] + filter[2] * data[y + 2];
      errors += (sum - right) * (sum - right);
    }
  }
  return std::sqrt(errors / (2000.0 * static_cast<double>(matrices.output.size())));
}

TEST(WinogradMatrices, OfFourOutputsRoundLittle) {
  EXPECT_LT(rounding_error(winograd_matrices(4)), 2.5 * rounding_error(winograd_matrices(2)));
}

// A^T [(G g) * (B^T d)] is the correlation of d with g, for unit vectors and so for all.
TEST(WinogradMatrices, FilterInOneDimension) {
  const std::pair<int, int> sizes[] = {{2, 3}, {4, 3}, {6, 3}, {2, 2}, {3, 2}, {4, 2}, {6, 2}};
  for (const auto& [m, taps] : sizes) {
    const WinogradMatrices matrices = winograd_matrices(m, taps);
    const std::size_t t = static_cast<std::size_t>(m + taps - 1);
    for (std::size_t d = 0; d < t; ++d) {
      for (std::size_t g = 0; g < static_cast<std::size_t>(taps); ++g) {
        for (std::size_t y = 0; y < static_cast<std::size_t>(m); ++y) {
          double sum = 0;
          for (std::size_t j = 0; j < t; ++j) {
            sum += matrices.output[y][j] * matrices.filter[j][g] * matrices.input[j][d];
          }
          EXPECT_NEAR(sum, y + g == d ? 1 : 0, 1e-12) << m << " " << d << " " << g << " " << y;
        }
      }
    }
  }
}

TEST(WinogradMatrices, TransformsShareSubexpressions) {
  std::vector<ir::Expr> terms;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    terms.push_back(ir::var(name, ir::kF32));
  }
  const auto row = [&](const Matrix& matrix, std::int64_t i, Bracket bracket) {
    const Matrix one{matrix[static_cast<std::size_t>(i)]};
    return transform(one, ir::Expr(0), terms, bracket);
  };
  const WinogradMatrices matrices = winograd_matrices(4);
  const ir::Expr plus = row(matrices.input, 1, Bracket::Parity);
  const ir::Expr minus = row(matrices.input, 2, Bracket::Parity);
  EXPECT_TRUE(ir::equal(ir::as<ir::Binary>(plus)->lhs, ir::as<ir::Binary>(minus)->lhs));
  EXPECT_TRUE(ir::equal(ir::as<ir::Binary>(plus)->rhs, ir::as<ir::Binary>(minus)->rhs));
  EXPECT_EQ(ir::as<ir::Binary>(plus)->op, ir::BinOp::Add);
  EXPECT_EQ(ir::as<ir::Binary>(minus)->op, ir::BinOp::Sub);
  EXPECT_TRUE(ir::equal(
      row(matrices.output, 1, Bracket::Pairs),
      (terms[1] - terms[2]) * ir::float_imm(0.625) + (terms[3] - terms[4]) * ir::float_imm(1.5)));
}

}  // namespace
}  // namespace attune::ops

#include "compiler/ops/winograd_matrices.h"

#include <gtest/gtest.h>

namespace attune::ops {
namespace {

TEST(WinogradMatrices, OfFourOutputsAreTheWellKnownOnes) {
  const WinogradMatrices matrices = winograd_matrices(4);
  EXPECT_EQ(matrices.input, (Matrix{{4, 0, -5, 0, 1, 0},
                                    {0, -4, -4, 1, 1, 0},
                                    {0, 4, -4, -1, 1, 0},
                                    {0, -2, -1, 2, 1, 0},
                                    {0, 2, -1, -2, 1, 0},
                                    {0, 4, 0, -5, 0, 1}}));
  EXPECT_EQ(
      matrices.output,
      (Matrix{{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}));
  EXPECT_EQ(matrices.filter[0], (std::vector<double>{0.25, 0, 0}));
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
  EXPECT_TRUE(ir::equal(row(matrices.output, 1, Bracket::Pairs),
                        terms[1] - terms[2] + (terms[3] - terms[4]) * ir::float_imm(2)));
}

}  // namespace
}  // namespace attune::ops

#include "compiler/ops/algorithms/strassen.h"

#include <array>

#include "compiler/ops/element_types.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

using Element = MatrixElement;

// How often each quarter (row-major) is part of a sum.
using Signs = std::array<int, 4>;
// Products p = (sum of quarters of the left) * (sum of quarters of the right).
constexpr std::array<Signs, 7> kLeft{{{1, 0, 0, 1},
                                      {0, 0, 1, 1},
                                      {1, 0, 0, 0},
                                      {0, 0, 0, 1},
                                      {1, 1, 0, 0},
                                      {-1, 0, 1, 0},
                                      {0, 1, 0, -1}}};
constexpr std::array<Signs, 7> kRight{{{1, 0, 0, 1},
                                       {1, 0, 0, 0},
                                       {0, 1, 0, -1},
                                       {-1, 0, 1, 0},
                                       {0, 0, 0, 1},
                                       {1, 1, 0, 0},
                                       {0, 0, 1, 1}}};
// Quarters of the result as sums of products.
constexpr std::array<std::array<int, 7>, 4> kResult{
    {{1, 0, 0, 1, -1, 0, 1}, {0, 0, 1, 0, 1, 0, 0}, {0, 1, 0, 1, 0, 0, 0}, {1, -1, 1, 0, 0, 1, 0}}};

template <std::size_t N, typename Term>
ir::Expr signed_sum(const std::array<int, N>& signs, const Term& term) {
  ir::Expr sum;
  // What is added comes before what is taken away.
  for (const int sign : {1, -1}) {
    for (std::size_t i = 0; i < N; ++i) {
      if (signs[i] != sign) continue;
      sum = !sum ? term(i) : sign > 0 ? sum + term(i) : sum - term(i);
    }
  }
  return sum;
}

// The choice by a small number: cases[number].
template <std::size_t N>
ir::Expr choose(const ir::Expr& number, const std::array<ir::Expr, N>& cases) {
  ir::Expr value = cases.back();
  for (std::size_t i = N - 1; i-- > 0;) {
    value = ir::select(number < ir::Expr(static_cast<std::int64_t>(i) + 1), cases[i], value);
  }
  return value;
}

// sums[p, row, column] of the quarters of a matrix.
ir::Buffer add_sums(ir::Program& program, const std::string& name, const Element& matrix,
                    const std::vector<ir::Axis>& axes, const std::array<Signs, 7>& signs) {
  const ir::Expr row = ir::axis_var(axes[1]), column = ir::axis_var(axes[2]);
  std::array<ir::Expr, 7> sums;
  for (std::size_t p = 0; p < sums.size(); ++p) {
    sums[p] = signed_sum(signs[p], [&](std::size_t quarter) {
      const std::int64_t down = quarter / 2 * axes[1].extent, right = quarter % 2 * axes[2].extent;
      return matrix(row + ir::Expr(down), column + ir::Expr(right));
    });
  }
  return ir::add_compute(program, name, axes, choose(ir::axis_var(axes[0]), sums));
}

}  // namespace

bool strassen_applies(const MatmulOptions& options) {
  constexpr std::int64_t kFewest = 64, kColumns = 32;
  return options.dtype == ir::kF32 && options.m % 2 == 0 && options.k % 2 == 0 &&
         options.n % kColumns == 0 && options.m >= kFewest && options.k >= 2 * kFewest &&
         options.n >= 2 * kFewest;
}

ir::Buffer add_seven_products(ir::Program& program, const MatmulOptions& quarter,
                              const MatrixElement& left, const MatrixElement& right) {
  const std::int64_t m = quarter.m, n = quarter.n, k = quarter.k;
  const ir::Axis products{"p", 7};
  const ir::Buffer filter =
      add_sums(program, "filter.sums", right, {products, {"k", k}, {"j", n}}, kRight);
  const ir::Buffer sums = add_sums(program, "sums", left, {products, {"i", m}, {"k", k}}, kLeft);
  const ir::Expr p = ir::var("p"), i = ir::var("i"), j = ir::var("j");
  const ir::Buffer anchor = ir::add_reduce(
      program, "anchor", {products, {"i", m}, {"j", n}}, {{"k", k}}, ir::Reduction::Sum,
      ir::load(sums, {p, i, ir::var("k")}) * ir::load(filter, {p, ir::var("k"), j}));
  std::array<ir::Expr, 4> quarters;
  for (std::size_t q = 0; q < quarters.size(); ++q) {
    quarters[q] = signed_sum(kResult[q], [&](std::size_t product) {
      return ir::load(anchor, {ir::Expr(static_cast<std::int64_t>(product)), i, j});
    });
  }
  return ir::add_compute(
      program, "quarters", {{"u", 2}, {"i", m}, {"v", 2}, {"j", n}},
      choose(ir::var("u"), std::array{choose(ir::var("v"), std::array{quarters[0], quarters[1]}),
                                      choose(ir::var("v"), std::array{quarters[2], quarters[3]})}));
}

Result<AlgorithmDef> build_strassen(const MatmulOptions& options) {
  ir::Program program{"dense", {}, {}, {}};
  const std::int64_t m = options.m / 2, n = options.n / 2;
  const ir::Buffer data = ir::add_input(program, "data", options.dtype, {options.m, options.k});
  const ir::Buffer weight =
      ir::add_input(program, "weight", options.dtype, {options.k, options.n}, true);
  const auto element_of = [](const ir::Buffer& matrix) {
    return [matrix](const ir::Expr& row, const ir::Expr& column) {
      return ir::load(matrix, {row, column});
    };
  };
  const ir::Buffer result = add_seven_products(program, {.m = m, .n = n, .k = options.k / 2},
                                               element_of(data), element_of(weight));
  const ir::Expr i = ir::var("i"), j = ir::var("j");
  const std::vector<ir::Axis> axes{{"i", options.m}, {"j", options.n}};
  const ir::Expr value =
      ir::load(result, {i / ir::Expr(m), i % ir::Expr(m), j / ir::Expr(n), j % ir::Expr(n)});
  program.outputs = {ir::add_compute(program, "output", axes, value)};
  ATTUNE_ASSIGN(program, check_memory(std::move(program)));
  return AlgorithmDef{"strassen", std::move(program), 2 * tolerance_of(options.dtype), true};
}

}  // namespace attune::ops

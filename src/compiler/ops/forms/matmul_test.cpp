#include "compiler/ops/forms/matmul.h"

#include <gtest/gtest.h>

#include "compiler/ops/evaluate_testing.h"
#include "compiler/ops/limits.h"

namespace attune::ops {
namespace {

// a[m, k] * b[k, n] from the definition, `batch` times.
Values reference(std::size_t batch, const MatmulOptions& o, const Values& a, const Values& b) {
  const auto m = static_cast<std::size_t>(o.m);
  const auto n = static_cast<std::size_t>(o.n);
  const auto k = static_cast<std::size_t>(o.k);
  Values result;
  for (std::size_t z = 0; z < batch; ++z) {
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::size_t x = 0; x < k; ++x) sum += a[(z * m + i) * k + x] * b[(z * k + x) * n + j];
        result.push_back(sum);
      }
    }
  }
  return result;
}

TEST(Matmul, MatchesTheDefinition) {
  const MatmulOptions options{.m = 5, .n = 7, .k = 3};
  Rng rng(1);
  const Values a = random_values(15, rng);
  const Values b = random_values(21, rng);
  const Values expected = reference(1, options, a, b);
  EXPECT_EQ(evaluate(*build_matmul(options), {{"a", a}, {"b", b}}), expected);
  EXPECT_EQ(evaluate(*build_dense(options), {{"data", a}, {"weight", b}}), expected);
}

TEST(Matmul, Batches) {
  const MatmulOptions options{.m = 2, .n = 3, .k = 4};
  Rng rng(2);
  const Values a = random_values(3 * 8, rng);
  const Values b = random_values(3 * 12, rng);
  EXPECT_EQ(evaluate(*build_batch_matmul(3, options), {{"a", a}, {"b", b}}),
            reference(3, options, a, b));
}

TEST(Matmul, StagesAndConstants) {
  const ir::Program matmul = *build_matmul({.m = 2, .n = 3, .k = 4});
  ASSERT_EQ(matmul.stages.size(), 2u);
  EXPECT_EQ(matmul.stages[0].name, "anchor");
  EXPECT_EQ(matmul.stages[1].name, "output");
  EXPECT_FALSE(matmul.inputs[1].constant);
  const ir::Program dense = *build_dense({.m = 2, .n = 3, .k = 4});
  EXPECT_EQ(dense.stages[0].name, "filter");
  EXPECT_TRUE(dense.inputs[1].constant);
  EXPECT_FALSE(dense.inputs[0].constant);
}

TEST(Matmul, KeepsSumsInWideTypes) {
  const ir::Program half = *build_matmul({.m = 2, .n = 3, .k = 4, .dtype = ir::kBF16});
  EXPECT_EQ(half.find_stage("anchor")->outputs[0]->type, ir::kF32);
  EXPECT_EQ(half.outputs[0]->type, ir::kBF16);
  const ir::Program bytes = *build_matmul({.m = 2, .n = 3, .k = 4, .dtype = ir::kU8});
  EXPECT_EQ(bytes.outputs[0]->type, ir::kI32);
}

TEST(Matmul, EveryElementType) {
  Rng rng(4);
  for (const ir::DType type : {ir::kF16, ir::kBF16, ir::kI8, ir::kU8}) {
    const MatmulOptions options{.m = 3, .n = 2, .k = 5, .dtype = type};
    const Values a = random_integers(15, 0, 7, rng);
    const Values b = random_integers(10, 0, 7, rng);
    EXPECT_EQ(evaluate(*build_matmul(options), {{"a", a}, {"b", b}}), reference(1, options, a, b))
        << ir::to_string(type);
  }
}

TEST(Matmul, RefusesBadSizes) {
  EXPECT_EQ(build_matmul({.m = 0, .n = 3, .k = 4}).error().message, "m is 0, must be at least 1");
  EXPECT_EQ(build_batch_matmul(-1, {.m = 1, .n = 3, .k = 4}).error().message,
            "b is -1, must be at least 1");
  // The operands fit, the product does not.
  EXPECT_EQ(build_matmul({.m = 200000, .n = 200000, .k = 1}).error().message,
            "tensor 'output' of shape [200000, 200000] takes 149 GiB, more than the limit of 64 "
            "GiB");
  EXPECT_EQ(build_matmul({.m = kLargestSize, .n = kLargestSize, .k = kLargestSize}).error().code,
            ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace attune::ops

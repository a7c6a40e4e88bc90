#include "compiler/ops/strassen.h"

#include <gtest/gtest.h>

#include "compiler/ir/verify.h"
#include "compiler/ops/evaluate_for_test.h"

namespace attune::ops {
namespace {

TEST(Strassen, AgreesWithTheDirectProduct) {
  const MatmulOptions options{.m = 6, .n = 8, .k = 10};
  Rng rng(7);
  const Values data = random_values(count_of({options.m, options.k}), rng);
  const Values weight = random_values(count_of({options.k, options.n}), rng);
  const auto direct = build_dense(options);
  const auto strassen = build_strassen(options);
  ASSERT_TRUE(direct.ok() && strassen.ok());
  ASSERT_TRUE(ir::verify(strassen->program).ok());
  const Values expected = evaluate(*direct, {{"data", data}, {"weight", weight}});
  const Values result = evaluate(strassen->program, {{"data", data}, {"weight", weight}});
  EXPECT_LE(largest_difference(result, expected), strassen->tolerance * largest(expected));
}

TEST(Strassen, NeedsLargeEvenMatrices) {
  EXPECT_TRUE(strassen_applies({.m = 64, .n = 128, .k = 128}));
  EXPECT_FALSE(strassen_applies({.m = 1, .n = 1024, .k = 1024}));
  EXPECT_FALSE(strassen_applies({.m = 65, .n = 128, .k = 128}));
  EXPECT_FALSE(strassen_applies({.m = 64, .n = 128, .k = 128, .dtype = ir::kI8}));
}

}  // namespace
}  // namespace attune::ops

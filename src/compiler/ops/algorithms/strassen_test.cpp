#include "compiler/ops/algorithms/strassen.h"

#include <gtest/gtest.h>

#include "compiler/ir/verify/verify.h"
#include "compiler/ops/algorithms/conv2d_algorithms.h"
#include "compiler/ops/evaluate_testing.h"

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

TEST(Strassen, AgreesWithTheDirectConvolution) {
  for (const std::int64_t size : {6, 7}) {
    const Conv2dOptions options{
        .ic = 64, .oc = 64, .h = {.size = size}, .w = {.size = size}, .block = 8};
    Rng rng(7);
    const Values data = random_values(count_of({64, size, size}), rng);
    const Values weight = random_values(count_of({64, 64}), rng);
    const auto direct = build_conv2d(options);
    const auto strassen = build_alternatives(options, "strassen");
    ASSERT_TRUE(direct.ok() && strassen.ok());
    const ir::Program& program = strassen->front().program;
    ASSERT_TRUE(ir::verify(program).ok());
    const Values expected = evaluate(*direct, {{"data", data}, {"weight", weight}});
    const Values result = evaluate(program, {{"data", data}, {"weight", weight}});
    EXPECT_LE(largest_difference(result, expected),
              strassen->front().tolerance * largest(expected));
  }
}

TEST(Strassen, NeedsConvolutionsOfOneTapAndWholeBlocks) {
  const auto count = [](const Conv2dOptions& options) {
    return build_alternatives(options, "strassen").ok();
  };
  const Conv2dOptions fine{.ic = 64, .oc = 64, .h = {.size = 7}, .w = {.size = 7}, .block = 16};
  EXPECT_TRUE(count(fine));
  Conv2dOptions ragged = fine, strided = fine, small = fine;
  ragged.oc = 72;
  strided.h.stride = 2;
  small.ic = 32;
  for (const Conv2dOptions& options : {ragged, strided, small}) EXPECT_FALSE(count(options));
}

TEST(Strassen, NeedsLargeEvenMatrices) {
  EXPECT_TRUE(strassen_applies({.m = 64, .n = 128, .k = 128}));
  EXPECT_FALSE(strassen_applies({.m = 1, .n = 1024, .k = 1024}));
  EXPECT_FALSE(strassen_applies({.m = 65, .n = 128, .k = 128}));
  EXPECT_FALSE(strassen_applies({.m = 64, .n = 128, .k = 128, .dtype = ir::kI8}));
}

}  // namespace
}  // namespace attune::ops

#include "compiler/ops/forms/pool.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "compiler/ops/evaluate_testing.h"

namespace attune::ops {
namespace {

double window_value(const PoolOptions& o, const Values& data, std::int64_t nc, std::int64_t oh,
                    std::int64_t ow) {
  double sum = 0;
  double greatest = -std::numeric_limits<double>::infinity();
  double taps = 0;
  for (std::int64_t kh = 0; kh < o.h.kernel; ++kh) {
    for (std::int64_t kw = 0; kw < o.w.kernel; ++kw) {
      const std::int64_t y = oh * o.h.stride + kh * o.h.dilation - o.h.pad_before;
      const std::int64_t x = ow * o.w.stride + kw * o.w.dilation - o.w.pad_before;
      if (y < 0 || y >= o.h.size || x < 0 || x >= o.w.size) continue;
      const double v = data[static_cast<std::size_t>((nc * o.h.size + y) * o.w.size + x)];
      sum += v;
      greatest = std::max(greatest, v);
      taps += 1;
    }
  }
  if (o.kind == PoolKind::Max) return greatest;
  return sum / (o.count_include_pad ? static_cast<double>(o.h.kernel * o.w.kernel) : taps);
}

void expect_same(const PoolOptions& options) {
  Rng rng(5);
  const Values data =
      random_values(count_of({options.n, options.c, options.h.size, options.w.size}), rng);
  Values expected;
  for (std::int64_t nc = 0; nc < options.n * options.c; ++nc) {
    for (std::int64_t oh = 0; oh < options.h.positions(); ++oh) {
      for (std::int64_t ow = 0; ow < options.w.positions(); ++ow) {
        expected.push_back(window_value(options, data, nc, oh, ow));
      }
    }
  }
  const Result<ir::Program> program = build_pool(options);
  ASSERT_TRUE(program.ok()) << program.error().message;
  const Values packed = pack(program->inputs[0].buffer->shape, options.c, data);
  const Values out =
      unpack(program->outputs[0]->shape, options.c, evaluate(*program, {{"data", packed}}));
  EXPECT_LE(largest_difference(out, expected), options.kind == PoolKind::Max ? 0 : 1e-6);
}

constexpr Window kPadded{.size = 7, .kernel = 3, .stride = 2, .pad_before = 1, .pad_after = 1};
constexpr Window kPlain{.size = 6, .kernel = 2, .stride = 2};

TEST(Pool, Maximum) {
  expect_same({.kind = PoolKind::Max, .n = 2, .c = 6, .h = kPadded, .w = kPadded, .block = 4});
  expect_same({.kind = PoolKind::Max, .c = 4, .h = kPlain, .w = kPadded, .block = 4});
  Window dilated = kPadded;
  dilated.dilation = 2;
  expect_same({.kind = PoolKind::Max, .c = 4, .h = dilated, .w = kPadded, .block = 4});
}

TEST(Pool, Average) {
  for (const bool include : {false, true}) {
    expect_same({.kind = PoolKind::Average,
                 .n = 2,
                 .c = 6,
                 .h = kPadded,
                 .w = kPadded,
                 .count_include_pad = include,
                 .block = 4});
    expect_same({.kind = PoolKind::Average,
                 .c = 4,
                 .h = kPlain,
                 .w = kPlain,
                 .count_include_pad = include,
                 .block = 4});
  }
}

TEST(Pool, RefusesWindowsOutsideTheImage) {
  Window window = kPadded;
  window.pad_before = window.pad_after = 3;
  EXPECT_EQ(build_pool({.c = 4, .h = window, .w = kPlain}).error().message,
            "padding 3+3 leaves windows of 3 without any input");
  EXPECT_EQ(
      build_pool({.kind = PoolKind::Average, .c = 4, .h = kPlain, .w = kPlain, .dtype = ir::kI8})
          .error()
          .message,
      "avgpool does not take elements of type i8");
}

TEST(Pool, MaximumOfBytesStaysInBytes) {
  const ir::Program program = *build_pool({.c = 4, .h = kPadded, .w = kPadded, .dtype = ir::kU8});
  EXPECT_EQ(program.find_stage("anchor")->outputs[0]->type, ir::kU8);
  EXPECT_EQ(program.outputs[0]->type, ir::kU8);
}

}  // namespace
}  // namespace attune::ops

#include "compiler/ops/forms/depthwise.h"

#include <gtest/gtest.h>

#include "compiler/ops/evaluate_testing.h"

namespace attune::ops {
namespace {

Values reference(const DepthwiseOptions& o, const Values& data, const Values& weight) {
  Values result;
  for (std::int64_t nc = 0; nc < o.n * o.c; ++nc) {
    for (std::int64_t oh = 0; oh < o.h.positions(); ++oh) {
      for (std::int64_t ow = 0; ow < o.w.positions(); ++ow) {
        double sum = 0;
        for (std::int64_t kh = 0; kh < o.h.kernel; ++kh) {
          for (std::int64_t kw = 0; kw < o.w.kernel; ++kw) {
            const std::int64_t y = oh * o.h.stride + kh * o.h.dilation - o.h.pad_before;
            const std::int64_t x = ow * o.w.stride + kw * o.w.dilation - o.w.pad_before;
            if (y < 0 || y >= o.h.size || x < 0 || x >= o.w.size) continue;
            sum += data[static_cast<std::size_t>((nc * o.h.size + y) * o.w.size + x)] *
                   weight[static_cast<std::size_t>((nc % o.c * o.h.kernel + kh) * o.w.kernel + kw)];
          }
        }
        result.push_back(sum);
      }
    }
  }
  return result;
}

void expect_same(const DepthwiseOptions& options) {
  Rng rng(5);
  const Values data =
      random_values(count_of({options.n, options.c, options.h.size, options.w.size}), rng);
  const Values weight =
      random_values(count_of({options.c, options.h.kernel, options.w.kernel}), rng);
  const Result<ir::Program> program = build_depthwise(options);
  ASSERT_TRUE(program.ok()) << program.error().message;
  const Values packed = pack(program->inputs[0].buffer->shape, options.c, data);
  const Values out = evaluate(*program, {{"data", packed}, {"weight", weight}});
  EXPECT_EQ(unpack(program->outputs[0]->shape, options.c, out), reference(options, data, weight));
}

TEST(Depthwise, MatchesTheDefinition) {
  const Window same{.size = 6, .kernel = 3, .pad_before = 1, .pad_after = 1};
  const Window strided{.size = 7, .kernel = 3, .stride = 2, .pad_before = 1, .pad_after = 1};
  const Window uneven{
      .size = 8, .kernel = 2, .stride = 3, .pad_before = 0, .pad_after = 2, .dilation = 2};
  expect_same({.c = 8, .h = same, .w = same, .block = 4});
  expect_same({.n = 2, .c = 6, .h = strided, .w = same, .block = 4});
  expect_same({.c = 3, .h = uneven, .w = strided, .block = 8});
}

TEST(Depthwise, FilterIsPaddedToWholeBlocks) {
  const Window window{.size = 6, .kernel = 3};
  const ir::Program program = *build_depthwise({.c = 10, .h = window, .w = window, .block = 8});
  EXPECT_EQ(program.find_stage("filter")->outputs[0]->shape, (std::vector<std::int64_t>{16, 3, 3}));
  EXPECT_EQ(program.inputs[1].buffer->shape, (std::vector<std::int64_t>{10, 1, 3, 3}));
  EXPECT_TRUE(program.inputs[1].constant);
  EXPECT_EQ(program.find_stage("pad"), nullptr);
}

}  // namespace
}  // namespace attune::ops

#include "compiler/ops/forms/conv2d.h"

#include <gtest/gtest.h>

#include "compiler/ops/algorithms/conv2d_algorithms.h"
#include "compiler/ops/algorithms/conv2d_merged.h"
#include "compiler/ops/evaluate_testing.h"

namespace attune::ops {
namespace {

struct Case {
  Conv2dOptions options;
  Values data;    // [n, ic, h, w]
  Values weight;  // [oc, ic / groups, kh, kw]
};

Case random_case(const Conv2dOptions& options, std::uint64_t seed) {
  Rng rng(seed);
  return {options,
          random_values(count_of({options.n, options.ic, options.h.size, options.w.size}), rng),
          random_values(count_of({options.oc, options.channels().ic_per_group(), options.h.kernel,
                                  options.w.kernel}),
                        rng)};
}

// One output element, straight from the definition.
double element(const Case& c, std::int64_t n, std::int64_t oc, std::int64_t oh, std::int64_t ow) {
  const Conv2dOptions& o = c.options;
  const std::int64_t per_group = o.channels().ic_per_group();
  const std::int64_t group = oc / o.channels().oc_per_group();
  double sum = 0;
  for (std::int64_t ic = 0; ic < per_group; ++ic) {
    for (std::int64_t kh = 0; kh < o.h.kernel; ++kh) {
      for (std::int64_t kw = 0; kw < o.w.kernel; ++kw) {
        const std::int64_t y = oh * o.h.stride + kh * o.h.dilation - o.h.pad_before;
        const std::int64_t x = ow * o.w.stride + kw * o.w.dilation - o.w.pad_before;
        if (y < 0 || y >= o.h.size || x < 0 || x >= o.w.size) continue;
        const std::int64_t in = group * per_group + ic;
        sum += c.data[static_cast<std::size_t>(((n * o.ic + in) * o.h.size + y) * o.w.size + x)] *
               c.weight[static_cast<std::size_t>(
                   ((oc * per_group + ic) * o.h.kernel + kh) * o.w.kernel + kw)];
      }
    }
  }
  return sum;
}

Values reference(const Case& c) {
  const Conv2dOptions& o = c.options;
  Values result;
  for (std::int64_t n = 0; n < o.n; ++n) {
    for (std::int64_t oc = 0; oc < o.oc; ++oc) {
      for (std::int64_t oh = 0; oh < o.h.positions(); ++oh) {
        for (std::int64_t ow = 0; ow < o.w.positions(); ++ow) {
          result.push_back(element(c, n, oc, oh, ow));
        }
      }
    }
  }
  return result;
}

Values run(const ir::Program& program, const Case& c) {
  const Values data =
      c.options.reads_nchw() ? c.data : pack(program.inputs[0].buffer->shape, c.options.ic, c.data);
  const Values out = evaluate(program, {{"data", data}, {"weight", c.weight}});
  return unpack(program.outputs[0]->shape, c.options.oc, out);
}

Conv2dOptions square(std::int64_t size, std::int64_t ic, std::int64_t oc, std::int64_t kernel,
                     std::int64_t stride, std::int64_t pad) {
  const Window window{
      .size = size, .kernel = kernel, .stride = stride, .pad_before = pad, .pad_after = pad};
  return {.ic = ic, .oc = oc, .h = window, .w = window, .block = 4};
}

void expect_direct(const Conv2dOptions& options) {
  const Case c = random_case(options, 7);
  const Result<ir::Program> program = build_conv2d(options);
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_EQ(largest_difference(run(*program, c), reference(c)), 0);
}

TEST(Conv2d, MatchesTheDefinition) {
  expect_direct(square(5, 8, 8, 3, 1, 1));
  expect_direct(square(7, 8, 4, 3, 2, 1));
  expect_direct(square(6, 8, 8, 1, 1, 0));
  expect_direct(square(6, 8, 8, 1, 2, 0));
}

TEST(Conv2d, ChannelsThatDoNotFillBlocks) {
  expect_direct(square(5, 6, 7, 3, 1, 1));
  expect_direct(square(4, 5, 1, 2, 1, 0));
  Conv2dOptions wide = square(4, 6, 9, 3, 1, 1);
  wide.block = 8;  // a single block, not full
  expect_direct(wide);
  wide.block = 16;
  expect_direct(wide);
}

TEST(Conv2d, FirstLayerReadsPlainChannels) {
  const Conv2dOptions options = square(9, 3, 6, 5, 2, 2);
  EXPECT_EQ(build_conv2d(options)->inputs[0].buffer->shape,
            (std::vector<std::int64_t>{1, 3, 9, 9}));
  EXPECT_EQ(build_conv2d(options)->find_stage("anchor")->reduce_axes.size(), 3u);
  expect_direct(options);
  expect_direct(square(5, 1, 4, 3, 1, 1));
}

TEST(Conv2d, AsymmetricWindows) {
  Conv2dOptions options = square(6, 8, 4, 3, 1, 0);
  options.n = 2;
  options.h = {.size = 7, .kernel = 3, .stride = 2, .pad_before = 0, .pad_after = 1, .dilation = 2};
  options.w = {.size = 5, .kernel = 2, .stride = 1, .pad_before = 2, .pad_after = 0, .dilation = 3};
  expect_direct(options);
}

TEST(Conv2d, Groups) {
  // ic per group, oc per group, groups: whole blocks, parts of blocks, and mixtures.
  const std::int64_t cases[][3] = {{4, 4, 2}, {8, 4, 3}, {2, 2, 4}, {4, 2, 3}, {2, 4, 3},
                                   {3, 5, 3}, {6, 4, 2}, {1, 1, 6}, {1, 3, 5}, {5, 1, 3}};
  for (const auto& [ic, oc, groups] : cases) {
    SCOPED_TRACE(testing::Message() << ic << " " << oc << " " << groups);
    Conv2dOptions options = square(4, ic * groups, oc * groups, 3, 1, 1);
    options.groups = groups;
    expect_direct(options);
    const auto merged = build_alternatives(options, "merged");
    if (!merged.ok()) continue;
    const Case c = random_case(options, 8);
    EXPECT_EQ(largest_difference(run(merged->front().program, c), reference(c)), 0);
  }
}

TEST(Conv2d, GroupsThatArePartsOfABlockAreMerged) {
  const auto merged = [](std::int64_t ic, std::int64_t oc, std::int64_t groups) {
    Conv2dOptions options = square(4, ic * groups, oc * groups, 3, 1, 1);
    options.groups = groups;
    return groups_to_merge(options);
  };
  EXPECT_EQ(merged(4, 8, 3), 1);  // whole blocks
  EXPECT_EQ(merged(2, 2, 8), 2);
  EXPECT_EQ(merged(1, 2, 8), 4);
  EXPECT_EQ(merged(3, 3, 4), 4);
  EXPECT_EQ(merged(3, 3, 3), 3);   // all of them
  EXPECT_EQ(merged(3, 3, 10), 1);  // no such number
  Conv2dOptions whole = square(4, 8, 8, 3, 1, 1);
  whole.groups = 2;
  EXPECT_EQ(build_alternatives(whole, "merged").error().message,
            "algo=merged needs groups that are parts of a block, a few of which make whole ones");
}

TEST(Conv2d, StagesHaveTheirRoles) {
  const ir::Program program = *build_conv2d(square(5, 8, 8, 3, 1, 1));
  std::vector<std::string> names;
  for (const ir::Stage& stage : program.stages) names.push_back(stage.name);
  EXPECT_EQ(names, (std::vector<std::string>{"filter", "pad", "anchor", "output"}));
  EXPECT_TRUE(program.inputs[1].constant);
  EXPECT_FALSE(program.inputs[0].constant);
  std::vector<std::string> axes;
  for (const ir::Axis& axis : program.find_stage("anchor")->axes) axes.push_back(axis.name);
  for (const ir::Axis& axis : program.find_stage("anchor")->reduce_axes) axes.push_back(axis.name);
  EXPECT_EQ(axes, (std::vector<std::string>{"n", "oc", "oh", "ow", "ob", "ic", "kh", "kw", "ib"}));
  EXPECT_EQ(build_conv2d(square(5, 8, 8, 3, 1, 0))->find_stage("pad"), nullptr);
}

TEST(Conv2d, CountsFlops) {
  EXPECT_EQ(flops(square(56, 64, 64, 3, 1, 1)), 2.0 * 56 * 56 * 64 * 64 * 9);
  Conv2dOptions grouped = square(56, 64, 64, 3, 1, 1);
  grouped.groups = 4;
  EXPECT_EQ(flops(grouped), 2.0 * 56 * 56 * 64 * 16 * 9);
}

TEST(Conv2d, IntegersAddUpInI32) {
  Conv2dOptions options = square(4, 8, 4, 3, 1, 1);
  options.dtype = ir::kI8;
  Rng rng(3);
  const Case c{options, random_integers(count_of({8, 4, 4}), -128, 127, rng),
               random_integers(count_of({4, 8, 3, 3}), -128, 127, rng)};
  const ir::Program program = *build_conv2d(options);
  EXPECT_EQ(program.outputs[0]->type, ir::kI32);
  EXPECT_EQ(run(program, c), reference(c));
}

void expect_alternatives(const Conv2dOptions& options, std::size_t count) {
  const Case c = random_case(options, 11);
  const Values expected = reference(c);
  const auto alternatives = build_alternatives(options, "auto");
  ASSERT_TRUE(alternatives.ok()) << alternatives.error().message;
  EXPECT_EQ(alternatives->size(), count);
  for (const AlgorithmDef& algorithm : *alternatives) {
    SCOPED_TRACE(algorithm.name);
    EXPECT_LE(largest_difference(run(algorithm.program, c), expected),
              algorithm.tolerance * largest(expected));
  }
}

TEST(Conv2dAlgorithms, AgreeWithTheDefinition) {
  expect_alternatives(square(5, 8, 8, 3, 1, 1), 4);
  expect_alternatives(square(14, 5, 6, 3, 1, 0), 4);
  expect_alternatives(square(8, 20, 3, 3, 1, 2), 4);
  expect_alternatives(square(7, 3, 6, 3, 2, 1), 1);  // only gemm, from plain channels
  expect_alternatives(square(21, 4, 6, 8, 4, 0), 4);
  expect_alternatives(square(12, 6, 5, 4, 2, 0), 4);
  expect_alternatives(square(13, 9, 3, 4, 2, 1), 4);
  expect_alternatives(square(17, 3, 6, 7, 2, 3), 3);  // windows of four taps: no winograd3
  expect_alternatives(square(13, 5, 8, 5, 2, 2), 2);
  Conv2dOptions oblong = square(10, 6, 8, 6, 3, 1);
  oblong.n = 2;
  oblong.w = {.size = 11, .kernel = 4, .stride = 2, .pad_before = 0, .pad_after = 2};
  expect_alternatives(oblong, 3);
  expect_alternatives(square(6, 9, 6, 1, 1, 0), 1);
}

TEST(Conv2dAlgorithms, BatchesAndUnevenBorders) {
  Conv2dOptions options = square(9, 8, 4, 3, 1, 1);
  options.n = 3;
  options.w = {.size = 6, .kernel = 3, .pad_before = 2, .pad_after = 0};
  expect_alternatives(options, 4);
}

TEST(Conv2dAlgorithms, RefuseHugeSizesLikeTheDirectForm) {
  Conv2dOptions options = square(2147483647, 2147483647, 8, 2147483647, 1, 0);
  EXPECT_EQ(build_alternatives(options, "gemm").error().message,
            build_conv2d(options).error().message);
  options = square(2147483647, 2147483647, 8, 3, 1, 0);
  EXPECT_EQ(build_alternatives(options, "winograd6").error().message,
            build_conv2d(options).error().message);
}

TEST(Conv2dAlgorithms, NamedOnesMustApply) {
  EXPECT_EQ(build_alternatives(square(8, 8, 8, 3, 1, 1), "direct")->size(), 0u);
  const auto one = build_alternatives(square(8, 8, 8, 3, 1, 1), "winograd4");
  ASSERT_EQ(one->size(), 1u);
  EXPECT_EQ(one->front().name, "winograd4");
  EXPECT_EQ(build_alternatives(square(8, 8, 8, 3, 2, 1), "winograd4").error().message,
            "algo=winograd4 needs a 3x3 kernel with stride 1, or a stride that leaves several taps "
            "and far fewer multiplications; dilation 1, one group, more than 4 input channels "
            "unless there is a stride, and floating-point elements");
  Conv2dOptions grouped = square(8, 8, 8, 3, 1, 1);
  grouped.groups = 2;
  EXPECT_EQ(build_alternatives(grouped, "gemm").error().message, "algo=gemm needs one group");
}

}  // namespace
}  // namespace attune::ops

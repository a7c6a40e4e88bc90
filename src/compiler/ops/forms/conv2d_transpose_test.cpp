#include "compiler/ops/forms/conv2d_transpose.h"

#include <gtest/gtest.h>

#include "compiler/ir/verify/verify.h"
#include "compiler/ops/algorithms/conv2d_transpose_algorithms.h"
#include "compiler/ops/evaluate_testing.h"

namespace attune::ops {
namespace {

// Scatters every input element under the kernel, as the operator is defined.
Values reference(const Conv2dTransposeOptions& o, const Values& data, const Values& weight) {
  const std::int64_t per_group = o.channels().oc_per_group();
  Values result(count_of({o.n, o.oc, o.output_h(), o.output_w()}), 0);
  const auto scatter = [&](std::int64_t n, std::int64_t ic, std::int64_t y, std::int64_t x,
                           std::int64_t oc, std::int64_t kh, std::int64_t kw) {
    const std::int64_t oh = y * o.h.stride + kh * o.h.dilation - o.h.pad_before;
    const std::int64_t ow = x * o.w.stride + kw * o.w.dilation - o.w.pad_before;
    if (oh < 0 || oh >= o.output_h() || ow < 0 || ow >= o.output_w()) return;
    const std::int64_t out = ic / o.channels().ic_per_group() * per_group + oc;
    result[static_cast<std::size_t>(((n * o.oc + out) * o.output_h() + oh) * o.output_w() + ow)] +=
        data[static_cast<std::size_t>(((n * o.ic + ic) * o.h.size + y) * o.w.size + x)] *
        weight[static_cast<std::size_t>(((ic * per_group + oc) * o.h.kernel + kh) * o.w.kernel +
                                        kw)];
  };
  for (std::int64_t n = 0; n < o.n; ++n)
    for (std::int64_t ic = 0; ic < o.ic; ++ic)
      for (std::int64_t y = 0; y < o.h.size; ++y)
        for (std::int64_t x = 0; x < o.w.size; ++x)
          for (std::int64_t oc = 0; oc < per_group; ++oc)
            for (std::int64_t kh = 0; kh < o.h.kernel; ++kh)
              for (std::int64_t kw = 0; kw < o.w.kernel; ++kw) scatter(n, ic, y, x, oc, kh, kw);
  return result;
}

void expect_same(const Conv2dTransposeOptions& options) {
  Rng rng(5);
  const Values data =
      random_values(count_of({options.n, options.ic, options.h.size, options.w.size}), rng);
  const Values weight = random_values(
      count_of({options.ic, options.channels().oc_per_group(), options.h.kernel, options.w.kernel}),
      rng);
  const Result<ir::Program> program = build_conv2d_transpose(options);
  ASSERT_TRUE(program.ok()) << program.error().message;
  const Values packed = pack(program->inputs[0].buffer->shape, options.ic, data);
  const Values out = evaluate(*program, {{"data", packed}, {"weight", weight}});
  const Values expected = reference(options, data, weight);
  EXPECT_EQ(unpack(program->outputs[0]->shape, options.oc, out), expected);
  const auto alternatives = build_alternatives(options, "auto");
  for (const AlgorithmDef& other : *alternatives) {
    SCOPED_TRACE(other.name);
    EXPECT_TRUE(ir::verify(other.program).ok());
    const Values result = unpack(other.program.outputs[0]->shape, options.oc,
                                 evaluate(other.program, {{"data", packed}, {"weight", weight}}));
    EXPECT_LE(largest_difference(result, expected), other.tolerance * largest(expected));
  }
}

std::vector<std::string> names_of(const Conv2dTransposeOptions& options) {
  std::vector<std::string> names;
  const auto alternatives = build_alternatives(options, "auto");
  for (const AlgorithmDef& other : *alternatives) {
    names.push_back(other.name);
  }
  return names;
}

TEST(Conv2dTranspose, MatchesTheDefinition) {
  const Window dcgan{.size = 4, .kernel = 4, .stride = 2, .pad_before = 1, .pad_after = 1};
  expect_same({.ic = 8, .oc = 4, .h = dcgan, .w = dcgan, .block = 4});
  const Window first{.size = 1, .kernel = 4};
  expect_same({.ic = 6, .oc = 5, .h = first, .w = first, .block = 4});
}

TEST(Conv2dTranspose, AllWindows) {
  for (std::int64_t kernel = 1; kernel <= 5; ++kernel) {
    for (std::int64_t stride = 1; stride <= 4; ++stride) {
      for (std::int64_t dilation = 1; dilation <= 3; ++dilation) {
        for (std::int64_t pad = 0; pad <= 4; ++pad) {
          const Window h{.size = 4,
                         .kernel = kernel,
                         .stride = stride,
                         .pad_before = pad,
                         .pad_after = pad / 2,
                         .dilation = dilation};
          const Window w{.size = 3, .kernel = 2, .stride = 2, .pad_before = 1, .pad_after = 0};
          const Conv2dTransposeOptions options{.ic = 4, .oc = 4, .h = h, .w = w, .block = 4};
          if (options.output_h() < 1) continue;
          SCOPED_TRACE(testing::Message()
                       << kernel << " " << stride << " " << dilation << " " << pad);
          expect_same(options);
        }
      }
    }
  }
}

TEST(Conv2dTranspose, GroupsAndOutputPadding) {
  const Window window{.size = 3, .kernel = 3, .stride = 2, .pad_before = 1, .pad_after = 1};
  expect_same({.n = 2,
               .ic = 8,
               .oc = 8,
               .groups = 2,
               .h = window,
               .w = window,
               .output_pad_h = 1,
               .output_pad_w = 1,
               .block = 4});
  expect_same({.ic = 6, .oc = 9, .groups = 3, .h = window, .w = window, .block = 4});
}

TEST(Conv2dTranspose, TakesOnlyTheTapsThatMeet) {
  const Window window{.size = 4, .kernel = 4, .stride = 2, .pad_before = 1, .pad_after = 1};
  const ir::Program program = *build_conv2d_transpose({.ic = 8, .oc = 8, .h = window, .w = window});
  EXPECT_EQ(program.find_stage("anchor")->reduce_axes[1], (ir::Axis{"kh", 2}));
  EXPECT_EQ(flops(Conv2dTransposeOptions{.ic = 8, .oc = 8, .h = window, .w = window}),
            2.0 * 8 * 8 * 16 * 16);
}

TEST(Conv2dTransposeAlgorithms, AgreeWithTheDefinition) {
  const Window even{.size = 5, .kernel = 4, .stride = 2, .pad_before = 1, .pad_after = 1};
  const Window odd{.size = 6, .kernel = 3, .stride = 2, .pad_before = 0, .pad_after = 1};
  const Window three{.size = 4, .kernel = 6, .stride = 3, .pad_before = 2, .pad_after = 1};
  const Window wide{.size = 7, .kernel = 5, .stride = 2, .pad_before = 2, .pad_after = 2};
  const Window unstrided{.size = 8, .kernel = 2, .pad_before = 1};
  const std::vector<std::string> winograd{"winograd2", "winograd3", "winograd4"};
  const std::pair<Window, Window> pairs[] = {{even, even}, {odd, even},   {three, three},
                                             {wide, wide}, {even, three}, {unstrided, odd}};
  for (const auto& [h, w] : pairs) {
    SCOPED_TRACE(testing::Message() << h.kernel << "/" << h.stride << " " << w.kernel);
    const Conv2dTransposeOptions options{
        .n = 2, .ic = 6, .oc = 9, .h = h, .w = w, .output_pad_h = 1, .block = 4};
    expect_same(options);
    const std::vector<std::string> names = names_of(options);
    EXPECT_TRUE(std::equal(winograd.begin(), winograd.end(), names.begin()));
  }
}

TEST(Conv2dTransposeAlgorithms, PackPhasesOfFewChannels) {
  const Window even{.size = 6, .kernel = 4, .stride = 2, .pad_before = 1, .pad_after = 1};
  const Window odd{.size = 7, .kernel = 3, .stride = 2, .pad_before = 1, .pad_after = 2};
  const Window three{.size = 5, .kernel = 3, .stride = 3, .pad_before = 2, .pad_after = 1};
  const Window plain{.size = 5, .kernel = 4, .stride = 2};
  for (const Window& window : {even, odd, three, plain}) {
    for (const std::int64_t oc : {1, 2, 3, 4}) {
      SCOPED_TRACE(testing::Message() << window.kernel << "/" << window.stride << " " << oc);
      const Conv2dTransposeOptions options{
          .n = 2, .ic = 5, .oc = oc, .h = window, .w = window, .block = 8};
      expect_same(options);
      const std::vector<std::string> names = names_of(options);
      const bool packed = std::find(names.begin(), names.end(), "packed4") != names.end();
      EXPECT_EQ(packed, window.stride == 2);  // nine phases do not divide a block
    }
  }
}

TEST(Conv2dTransposeAlgorithms, SayWhatTheyNeed) {
  const Window window{.size = 5, .kernel = 4, .stride = 2, .pad_before = 1, .pad_after = 1};
  Conv2dTransposeOptions options{.ic = 8, .oc = 8, .h = window, .w = window};
  EXPECT_EQ(build_alternatives(options, "direct")->size(), 0u);
  EXPECT_EQ(build_alternatives(options, "winograd4")->front().name, "winograd4");
  options.groups = 2;
  EXPECT_EQ(build_alternatives(options, "winograd4").error().message,
            "algo=winograd4 needs a stride and no dilation, as many taps in both dimensions, one "
            "group, outputs for a whole tile and floating-point elements");
  options = {.ic = 8, .oc = 8, .h = window, .w = window};
  options.w.kernel = 5;
  EXPECT_EQ(names_of(options), std::vector<std::string>{"gemm"});
  options.w.dilation = 2;
  EXPECT_TRUE(names_of(options).empty());
}

TEST(Conv2dTranspose, RefusesAnEmptyOutput) {
  const Window window{.size = 2, .kernel = 2, .pad_before = 2, .pad_after = 1};
  EXPECT_EQ(build_conv2d_transpose({.ic = 8, .oc = 8, .h = window, .w = window}).error().message,
            "padding 2+1 leaves an output of size 0, must be at least 1");
}

}  // namespace
}  // namespace attune::ops

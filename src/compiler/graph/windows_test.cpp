// What convolutions, pools and resampling of graphs mean.
#include "compiler/graph/evaluate_testing.h"

#include <gtest/gtest.h>

#include <limits>

namespace attune::graph {
namespace {

Attributes window(const Extents& kernel, const Extents& strides, const Extents& pads,
                  const Extents& dilations) {
  return {{"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}, {"dilations", dilations}};
}

TEST(Convolution, OneDimensionWithEverything) {
  Attributes attributes = window({2}, {2}, {1, 0}, {2});
  attributes["group"] = 2L;
  const ConstantPtr weight = tensor(ir::kF32, {2, 1, 2}, {1, 10, 2, 20});
  // Channels 0 1 2 3 and 4 5 6 7, with a zero in front; taps two apart, windows two apart.
  EXPECT_EQ(run("conv", {iota({1, 2, 4}), weight, tensor(ir::kF32, {2}, {0, 1})}, attributes),
            (Evaluated{{1, 2, 2}, {10, 31, 101, 151}}));
  attributes["group"] = 1L;
  EXPECT_EQ(error_of("conv", {iota({1, 2, 4}), weight, nullptr}, attributes),
            "conv of f32[1,2,4], f32[2,1,2]: the weight does not fit 2 channels in 1 groups");
  attributes["group"] = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(error_of("conv", {iota({1, 2, 4}), weight, nullptr}, attributes),
            "conv of f32[1,2,4], f32[2,1,2]: 9223372036854775807 groups");
}

TEST(Convolution, TransposedAddsEachWindow) {
  Attributes attributes = window({3}, {2}, {1, 0}, {1});
  attributes["group"] = 1L;
  attributes["output_padding"] = Extents{1};
  const ConstantPtr weight = tensor(ir::kF32, {1, 1, 3}, {1, 2, 3});
  const ConstantPtr data = tensor(ir::kF32, {1, 1, 2}, {1, 10});
  // 1 2 3+10 20 30, first cut off, one added at the end.
  EXPECT_EQ(run("conv_transpose", {data, weight, nullptr}, attributes),
            (Evaluated{{1, 1, 5}, {2, 13, 20, 30, 0}}));
}

TEST(Convolution, SmallIntegersAddUpInI32) {
  Attributes attributes = window({1}, {1}, {0, 0}, {1});
  attributes["group"] = 1L;
  const ConstantPtr large = tensor(ir::kI8, {1, 2, 1}, {100, 100});
  EXPECT_EQ(run("conv", {large, large, nullptr}, attributes), (Evaluated{{1, 1, 1}, {20000}}));
}

TEST(Pools, MaximumAndItsPlace) {
  const Attributes attributes = window({2, 2}, {2, 2}, {0, 0, 1, 1}, {1, 1});
  EXPECT_EQ(run("max_pool", {iota({1, 1, 3, 3})}, attributes),
            (Evaluated{{1, 1, 2, 2}, {4, 5, 7, 8}}));
  Attributes indices = attributes;
  indices["storage_order"] = 1L;
  EXPECT_EQ(run("max_pool_indices", {iota({1, 1, 3, 3})}, indices).values, (Numbers{4, 7, 5, 8}));
}

TEST(Pools, AveragesCountWhatTheyAreTold) {
  Attributes attributes = window({3}, {2}, {1, 2}, {1});
  attributes["counted_pads"] = Extents{0, 0};
  const ConstantPtr data = tensor(ir::kF32, {1, 1, 4}, {6, 6, 6, 6});
  EXPECT_EQ(run("average_pool", {data}, attributes).values, (Numbers{6, 6, 6}));
  attributes["counted_pads"] = Extents{1, 1};
  EXPECT_EQ(run("average_pool", {data}, attributes).values, (Numbers{4, 6, 3}));
}

TEST(Resample, WeighsTaps) {
  const ConstantPtr places = tensor(ir::kI64, {2, 2}, {0, 1, 1, 2});
  const ConstantPtr weights = tensor(ir::kF32, {2, 2}, {0.5, 0.5, 0.25, 0.75});
  for (const char* op : {"resample", "resample_wide"}) {
    EXPECT_EQ(run(op, {iota({3}), places, weights}, {{"axis", 0L}}), (Evaluated{{2}, {0.5, 1.75}}));
  }
}

}  // namespace
}  // namespace attune::graph

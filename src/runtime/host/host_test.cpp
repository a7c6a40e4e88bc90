#include "runtime/host/host.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/host/elements.h"
#include "runtime/host/host_values_testing.h"

namespace attune::runtime {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Ints = std::vector<std::int64_t>;

HostValue f32(Shape shape, std::vector<double> values) { return {DType::F32, shape, values}; }
HostValue i64(Shape shape, std::vector<double> values) { return {DType::I64, shape, values}; }
HostValue flags(Shape shape, std::vector<double> values) { return {DType::Bool, shape, values}; }

// The only output of an operator that must succeed.
HostValue one(std::string_view op, const HostAttributes& attributes,
              const std::vector<HostValue>& inputs, DType type) {
  HostRun run = run_values(op, attributes, inputs, {type});
  EXPECT_TRUE(run.status.ok()) << op << ": " << run.status.error().message;
  return run.outputs[0];
}

std::string failure(std::string_view op, const HostAttributes& attributes,
                    const std::vector<HostValue>& inputs, const std::vector<DType>& types) {
  const HostRun run = run_values(op, attributes, inputs, types);
  EXPECT_FALSE(run.status.ok()) << op;
  return run.status.ok() ? "" : run.status.error().message;
}

TEST(HostRequire, FailsWithItsOwnWords) {
  const HostAttributes attributes{{"message", "only one way"}, {"expected", std::int64_t{1}}};
  EXPECT_EQ(one("Require", attributes, {flags({}, {1}), f32({2}, {3, 4})}, DType::F32),
            f32({2}, {3, 4}));
  EXPECT_EQ(failure("Require", attributes, {flags({}, {0}), f32({2}, {3, 4})}, {DType::F32}),
            "only one way");
}

TEST(HostSoftmax, AlongAnInnerAxis) {
  const HostValue half =
      one("Softmax", {{"axis", std::int64_t{0}}}, {f32({2, 2}, {1, 7, 1, 7})}, DType::F32);
  EXPECT_EQ(half, f32({2, 2}, {0.5, 0.5, 0.5, 0.5}));
}

TEST(HostFramework, NamesWhatIsWrong) {
  EXPECT_TRUE(has_host("TopK"));
  EXPECT_FALSE(has_host("Nothing"));
  EXPECT_EQ(failure("Nothing", {}, {}, {}), "there is no host operator 'Nothing'");
  EXPECT_EQ(failure("NonZero", {}, {absent()}, {DType::I64}), "NonZero: input 0 is missing");
  EXPECT_EQ(failure("NonZero", {}, {f32({1}, {1})}, {DType::I32}),
            "NonZero: output 0 is i32 and should be i64");
  const HostRun full = run_values("Identity", {}, {f32({4}, {1, 2, 3, 4})}, {DType::F32}, 3);
  EXPECT_EQ(full.status.error().message,
            "Identity: output 0 of shape 4 takes 16 bytes, there is room for 12");
}

TEST(Elements, RoundOnceOnTheWayToSixteenBits) {
  // Just above the middle of 1 and the next f16: rounding to f32 first would lose the tail.
  const double value = 1.0 + 0x1.0p-11 + 0x1.0p-40;
  EXPECT_EQ(half_from_float(host::round_to_odd(value)), 0x3c01);
  EXPECT_EQ(half_from_float(host::round_to_odd(-value)), 0xbc01);
  EXPECT_EQ(half_from_float(host::round_to_odd(1.0 + 0x1.0p-11)), 0x3c00);
  EXPECT_EQ(half_from_float(host::round_to_odd(1e300)), 0x7c00);
}

TEST(NonZero, GivesAColumnPerElement) {
  EXPECT_EQ(one("NonZero", {}, {f32({2, 2}, {1, 0, 3, -0.0})}, DType::I64),
            i64({2, 2}, {0, 1, 0, 0}));
  EXPECT_EQ(one("NonZero", {}, {flags({3}, {0, 0, 0})}, DType::I64), i64({1, 0}, {}));
  EXPECT_EQ(one("NonZero", {}, {f32({}, {2})}, DType::I64), i64({0, 1}, {}));
}

TEST(Compress, TakesSlicesOrElements) {
  const HostValue data = f32({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(one("Compress", {{"axis", 0L}}, {data, flags({3}, {0, 1, 1})}, DType::F32),
            f32({2, 2}, {3, 4, 5, 6}));
  EXPECT_EQ(one("Compress", {{"axis", -1L}}, {data, flags({2}, {0, 1})}, DType::F32),
            f32({3, 1}, {2, 4, 6}));
  EXPECT_EQ(one("Compress", {}, {data, flags({5}, {0, 1, 0, 0, 1})}, DType::F32), f32({2}, {2, 5}));
  EXPECT_EQ(failure("Compress", {{"axis", 1L}}, {data, flags({3}, {0, 0, 1})}, {DType::F32}),
            "Compress: the condition selects slice 2 of 2");
}

TEST(Unique, SortsOrKeepsTheOrder) {
  const HostValue data = f32({6}, {2, 1, 1, 3, 4, 3});
  const std::vector<DType> types = {DType::F32, DType::I64, DType::I64, DType::I64};
  const HostRun sorted = run_values("Unique", {}, {data}, types);
  EXPECT_EQ(sorted.outputs[0].values, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(sorted.outputs[1].values, (std::vector<double>{1, 0, 3, 4}));
  EXPECT_EQ(sorted.outputs[2].values, (std::vector<double>{1, 0, 0, 2, 3, 2}));
  EXPECT_EQ(sorted.outputs[3].values, (std::vector<double>{2, 1, 2, 1}));
  const HostRun kept = run_values("Unique", {{"sorted", 0L}}, {data}, types);
  EXPECT_EQ(kept.outputs[0].values, (std::vector<double>{2, 1, 3, 4}));
  EXPECT_EQ(kept.outputs[1].values, (std::vector<double>{0, 1, 3, 4}));
  EXPECT_EQ(kept.outputs[2].values, (std::vector<double>{0, 1, 1, 2, 3, 2}));
  EXPECT_EQ(kept.outputs[3].values, (std::vector<double>{1, 2, 2, 1}));
}

TEST(Unique, ComparesSlicesAlongAnAxis) {
  const HostValue data = f32({3, 3}, {1, 0, 0, 1, 0, 0, 2, 3, 4});
  const HostRun rows = run_values("Unique", {{"axis", 0L}}, {data},
                                  {DType::F32, DType::I64, DType::I64, DType::I64});
  EXPECT_EQ(rows.outputs[0], f32({2, 3}, {1, 0, 0, 2, 3, 4}));
  EXPECT_EQ(rows.outputs[2].values, (std::vector<double>{0, 0, 1}));
  const HostValue columns = f32({2, 4}, {1, 0, 1, 0, 2, 5, 2, 5});
  EXPECT_EQ(one("Unique", {{"axis", 1L}}, {columns}, DType::F32), f32({2, 2}, {0, 1, 5, 2}));
}

TEST(TopK, BreaksTiesByTheLowerIndex) {
  const HostValue data = f32({2, 4}, {3, 1, 3, 2, 0, 5, -1, 5});
  const HostRun top = run_values("TopK", {}, {data, i64({1}, {2})}, {DType::F32, DType::I64});
  EXPECT_EQ(top.outputs[0], f32({2, 2}, {3, 3, 5, 5}));
  EXPECT_EQ(top.outputs[1], i64({2, 2}, {0, 2, 1, 3}));
  const HostRun low = run_values("TopK", {{"largest", 0L}, {"axis", 0L}, {"k", 1L}}, {data},
                                 {DType::F32, DType::I64});
  EXPECT_EQ(low.outputs[0], f32({1, 4}, {0, 1, -1, 2}));
  EXPECT_EQ(low.outputs[1], i64({1, 4}, {1, 0, 1, 0}));
  EXPECT_EQ(failure("TopK", {}, {data, i64({1}, {5})}, {DType::F32, DType::I64}),
            "TopK: k is 5, the axis has 4 elements");
  EXPECT_EQ(failure("TopK", {{"k", 2L}}, {data, i64({1}, {3})}, {DType::F32, DType::I64}),
            "TopK: k is 3, the model was compiled for at most 2");
}

TEST(TopK, OrdersEveryType) {
  for (int number = 0; number < kDTypeCount; ++number) {
    const auto type = static_cast<DType>(number);
    if (type == DType::Bool) continue;
    const HostValue data{type, {4}, {7, 100, 3, 100}};
    const HostRun top = run_values("TopK", {{"k", 3L}}, {data}, {type, DType::I64});
    EXPECT_EQ(top.outputs[0].values, (std::vector<double>{100, 100, 7})) << name_of(type);
    EXPECT_EQ(top.outputs[1].values, (std::vector<double>{1, 3, 0})) << name_of(type);
  }
  std::uint64_t words[] = {1, std::uint64_t{1} << 63, 5};
  std::uint64_t best = 0;
  const HostTensor in{DType::U64, {3}, words, 24};
  HostTensor out{DType::U64, {}, &best, 8};
  ASSERT_TRUE(run_host("TopK", {{"k", 1L}}, {&in, 1}, {&out, 1}).ok());
  EXPECT_EQ(best, std::uint64_t{1} << 63);
}

TEST(NonMaxSuppression, SkipsOverlappingBoxes) {
  const HostValue boxes =
      f32({1, 6, 4}, {0.0, 0.0,  1.0, 1.0,  0.0, 0.1,  1.0, 1.1,  0.0, -0.1,  1.0, 0.9,
                      0.0, 10.0, 1.0, 11.0, 0.0, 10.1, 1.0, 11.1, 0.0, 100.0, 1.0, 101.0});
  const HostValue scores = f32({1, 1, 6}, {0.9, 0.75, 0.6, 0.95, 0.5, 0.3});
  const auto picked = [&](double most, std::vector<HostValue> rest) {
    std::vector<HostValue> inputs = {boxes, scores, i64({1}, {most})};
    inputs.insert(inputs.end(), rest.begin(), rest.end());
    return one("NonMaxSuppression", {}, inputs, DType::I64);
  };
  EXPECT_EQ(picked(3, {f32({1}, {0.5}), f32({1}, {0})}), i64({3, 3}, {0, 0, 3, 0, 0, 0, 0, 0, 5}));
  EXPECT_EQ(picked(2, {f32({1}, {0.5}), f32({1}, {0})}), i64({2, 3}, {0, 0, 3, 0, 0, 0}));
  EXPECT_EQ(picked(3, {f32({1}, {0.5}), f32({1}, {0.4})}), i64({2, 3}, {0, 0, 3, 0, 0, 0}));
  EXPECT_EQ(picked(0, {}), i64({0, 3}, {}));
}

TEST(Scatter, ReplacesOrCombines) {
  const HostValue data = f32({1, 5}, {1, 2, 3, 4, 5});
  const HostValue at = i64({1, 2}, {1, -4});
  const HostValue updates = f32({1, 2}, {1.5, 2.5});
  const auto result = [&](const char* how) {
    return one("ScatterElements", {{"axis", 1L}, {"reduction", std::string(how)}},
               {data, at, updates}, DType::F32)
        .values[1];
  };
  EXPECT_EQ(result("none"), 2.5);
  EXPECT_EQ(result("add"), 6.0);
  EXPECT_EQ(result("mul"), 7.5);
  EXPECT_EQ(result("min"), 1.5);
  EXPECT_EQ(result("max"), 2.5);
  EXPECT_EQ(failure("ScatterElements", {{"axis", 1L}}, {data, i64({1, 2}, {0, 5}), updates},
                    {DType::F32}),
            "ScatterElements: index 5 is outside of 5 elements");
  const HostValue square{DType::I32, {2, 2}, {1, 2, 3, 4}};
  EXPECT_EQ(
      one("ScatterND", {}, {square, i64({1, 1}, {-1}), {DType::I32, {1, 2}, {8, 9}}}, DType::I32),
      (HostValue{DType::I32, {2, 2}, {1, 2, 8, 9}}));
  EXPECT_EQ(one("ScatterND", {{"reduction", std::string("add")}},
                {square, i64({2, 2}, {0, 1, 0, 1}), {DType::I32, {2}, {8, 9}}}, DType::I32),
            (HostValue{DType::I32, {2, 2}, {1, 19, 3, 4}}));
  EXPECT_EQ(
      failure("ScatterND", {}, {square, i64({1, 2}, {0, 2}), {DType::I32, {1}, {8}}}, {DType::I32}),
      "ScatterND: index 2 is outside of 2 elements");
}

TEST(Gather, PicksByIndex) {
  const HostValue data = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(one("Gather", {{"axis", 1L}}, {data, i64({2}, {-1, 0})}, DType::F32),
            f32({2, 2}, {3, 1, 6, 4}));
  EXPECT_EQ(one("Gather", {}, {data, i64({}, {1})}, DType::F32), f32({3}, {4, 5, 6}));
  EXPECT_EQ(one("GatherElements", {{"axis", 1L}}, {data, i64({2, 1}, {2, -3})}, DType::F32),
            f32({2, 1}, {3, 4}));
  EXPECT_EQ(one("GatherND", {}, {data, i64({2, 2}, {0, 0, 1, -1})}, DType::F32), f32({2}, {1, 6}));
  EXPECT_EQ(one("GatherND", {{"batch_dims", 1L}}, {data, i64({2, 1}, {1, 2})}, DType::F32),
            f32({2}, {2, 6}));
  EXPECT_EQ(failure("Gather", {}, {data, i64({1}, {2})}, {DType::F32}),
            "Gather: index 2 is outside of 2 elements");
}

TEST(Slice, ClampsAsOnnxDoes) {
  const HostValue data = f32({5}, {0, 1, 2, 3, 4});
  const auto cut = [&](double start, double end, double step) {
    return one("Slice", {},
               {data, i64({1}, {start}), i64({1}, {end}), i64({1}, {0}), i64({1}, {step})},
               DType::F32)
        .values;
  };
  using Values = std::vector<double>;
  EXPECT_EQ(cut(1, 3, 1), (Values{1, 2}));
  EXPECT_EQ(cut(0, 1e18, 2), (Values{0, 2, 4}));
  EXPECT_EQ(cut(-1, -1e18, -1), (Values{4, 3, 2, 1, 0}));
  EXPECT_EQ(cut(-2, 100, 1e18), (Values{3}));
  EXPECT_EQ(cut(3, 1, 1), Values{});
  EXPECT_EQ(one("Slice", {{"starts", Ints{1}}, {"ends", Ints{2}}, {"axes", Ints{1}}},
                {f32({2, 2}, {1, 2, 3, 4})}, DType::F32),
            f32({2, 1}, {2, 4}));
}

TEST(Joining, ConcatAndSplitAreInverse) {
  const HostValue a = f32({2, 1}, {1, 2});
  const HostValue b = f32({2, 2}, {3, 4, 5, 6});
  const HostValue both = one("Concat", {{"axis", 1L}}, {a, b}, DType::F32);
  EXPECT_EQ(both, f32({2, 3}, {1, 3, 4, 2, 5, 6}));
  const HostRun parts =
      run_values("Split", {{"axis", 1L}}, {both, i64({2}, {1, 2})}, {DType::F32, DType::F32});
  EXPECT_EQ(parts.outputs[0], a);
  EXPECT_EQ(parts.outputs[1], b);
}

TEST(Reshaping, FollowsTheRules) {
  const HostValue data = f32({2, 3, 1}, {1, 2, 3, 4, 5, 6});
  const auto shape = [&](const char* op, const HostAttributes& attributes,
                         std::vector<HostValue> rest) {
    std::vector<HostValue> inputs = {data};
    inputs.insert(inputs.end(), rest.begin(), rest.end());
    const HostValue result = one(op, attributes, inputs, DType::F32);
    EXPECT_EQ(result.values, data.values);
    return Ints(result.shape.span().begin(), result.shape.span().end());
  };
  EXPECT_EQ(shape("Reshape", {}, {i64({2}, {0, -1})}), (Ints{2, 3}));
  EXPECT_EQ(shape("Flatten", {{"axis", 1L}}, {}), (Ints{2, 3}));
  EXPECT_EQ(shape("Squeeze", {}, {}), (Ints{2, 3}));
  EXPECT_EQ(shape("Unsqueeze", {}, {i64({2}, {0, -1})}), (Ints{1, 2, 3, 1, 1}));
  EXPECT_EQ(failure("Reshape", {}, {data, i64({2}, {4, -1})}, {DType::F32}),
            "Reshape: 6 elements do not divide into rows of 4");
  EXPECT_EQ(failure("Squeeze", {{"axes", Ints{1}}}, {data}, {DType::F32}),
            "Squeeze: axis 1 has 3 elements, not 1");
}

TEST(Moving, TransposesExpandsTilesAndPads) {
  const HostValue data = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(one("Transpose", {}, {data}, DType::F32), f32({3, 2}, {1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(one("Expand", {}, {f32({2, 1}, {1, 2}), i64({3}, {2, 1, 2})}, DType::F32),
            f32({2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2}));
  EXPECT_EQ(one("Tile", {}, {f32({2}, {1, 2}), i64({1}, {2})}, DType::F32), f32({4}, {1, 2, 1, 2}));
  const HostValue line = f32({3}, {1, 2, 3});
  const HostValue pads = i64({2}, {2, 1});
  const auto padded = [&](const char* mode) {
    return one("Pad", {{"mode", std::string(mode)}}, {line, pads, f32({}, {9})}, DType::F32).values;
  };
  using Values = std::vector<double>;
  EXPECT_EQ(padded("constant"), (Values{9, 9, 1, 2, 3, 9}));
  EXPECT_EQ(padded("reflect"), (Values{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(padded("edge"), (Values{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(padded("wrap"), (Values{2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(one("Pad", {}, {line, i64({2}, {-1, 0})}, DType::F32).values, (Values{2, 3}));
}

TEST(Elementwise, BroadcastsAndWraps) {
  EXPECT_EQ(one("Add", {}, {f32({2, 1}, {1, 2}), f32({3}, {10, 20, 30})}, DType::F32),
            f32({2, 3}, {11, 21, 31, 12, 22, 32}));
  const HostValue a{DType::U8, {2}, {250, 3}};
  const HostValue b{DType::U8, {2}, {10, 5}};
  EXPECT_EQ(one("Add", {}, {a, b}, DType::U8).values, (std::vector<double>{4, 8}));
  EXPECT_EQ(one("Sub", {}, {a, b}, DType::U8).values, (std::vector<double>{240, 254}));
  EXPECT_EQ(one("Div", {}, {i64({2}, {-7, 7}), i64({1}, {2})}, DType::I64).values,
            (std::vector<double>{-3, 3}));
  EXPECT_EQ(one("Mod", {}, {i64({2}, {-7, 7}), i64({1}, {3})}, DType::I64).values,
            (std::vector<double>{2, 1}));
  EXPECT_EQ(one("Mod", {{"fmod", 1L}}, {i64({2}, {-7, 7}), i64({1}, {3})}, DType::I64).values,
            (std::vector<double>{-1, 1}));
  EXPECT_EQ(one("Greater", {}, {f32({2}, {1, 5}), f32({}, {2})}, DType::Bool), flags({2}, {0, 1}));
  EXPECT_EQ(one("Pow", {}, {i64({2}, {2, -3}), i64({2}, {10, 3})}, DType::I64).values,
            (std::vector<double>{1024, -27}));
  EXPECT_EQ(one("Max", {}, {f32({2}, {1, 5}), f32({2}, {2, 2}), f32({2}, {0, 9})}, DType::F32),
            f32({2}, {2, 9}));
  EXPECT_EQ(one("Where", {}, {flags({2, 1}, {1, 0}), f32({2}, {1, 2}), f32({}, {9})}, DType::F32),
            f32({2, 2}, {1, 2, 9, 9}));
  EXPECT_EQ(failure("Div", {}, {i64({1}, {1}), i64({1}, {0})}, {DType::I64}),
            "Div: division by zero");
  EXPECT_EQ(failure("Add", {}, {f32({2}, {1, 2}), f32({3}, {1, 2, 3})}, {DType::F32}),
            "Add: shapes 2 and 3 do not broadcast to one");
}

TEST(Elementwise, UnaryFunctionsAndCasts) {
  EXPECT_EQ(one("Relu", {}, {f32({3}, {-1, 0, 2})}, DType::F32).values,
            (std::vector<double>{0, 0, 2}));
  EXPECT_EQ(one("LeakyRelu", {{"alpha", 0.5}}, {f32({1}, {-4})}, DType::F32).values[0], -2.0);
  EXPECT_EQ(one("IsNaN", {}, {f32({2}, {kNan, 1})}, DType::Bool).values,
            (std::vector<double>{1, 0}));
  EXPECT_EQ(
      one("Clip", {}, {f32({3}, {-5, 0.5, 5}), f32({}, {0}), f32({}, {1})}, DType::F32).values,
      (std::vector<double>{0, 0.5, 1}));
  EXPECT_EQ(one("Cast", {}, {f32({4}, {-1.7, 300, 2.9, kNan})}, DType::U8).values,
            (std::vector<double>{255, 44, 2, 0}));
  EXPECT_EQ(one("Cast", {}, {i64({2}, {300, -1})}, DType::U8).values,
            (std::vector<double>{44, 255}));
  EXPECT_EQ(one("Not", {}, {flags({2}, {0, 1})}, DType::Bool).values, (std::vector<double>{1, 0}));
}

TEST(Reductions, ReduceAxes) {
  const HostValue data = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(one("ReduceSum", {{"keepdims", 0L}}, {data, i64({1}, {1})}, DType::F32),
            f32({2}, {6, 15}));
  EXPECT_EQ(one("ReduceMean", {{"axes", Ints{0}}}, {data}, DType::F32),
            f32({1, 3}, {2.5, 3.5, 4.5}));
  EXPECT_EQ(one("ReduceMax", {{"keepdims", 0L}}, {data}, DType::F32), f32({}, {6}));
  EXPECT_EQ(one("ReduceProd", {{"keepdims", 0L}}, {i64({3}, {2, 3, 4})}, DType::I64).values[0], 24);
  EXPECT_EQ(one("ReduceMin", {{"keepdims", 0L}}, {i64({3}, {2, -3, 4})}, DType::I64).values[0], -3);
  const double sum =
      one("ReduceLogSumExp", {{"keepdims", 0L}}, {f32({2}, {1000, 1000})}, DType::F32).values[0];
  EXPECT_NEAR(sum, 1000.0 + std::log(2.0), 1e-4);
  EXPECT_EQ(one("ReduceSum", {{"noop_with_empty_axes", 1L}}, {data}, DType::F32), data);
  EXPECT_EQ(one("ArgMax", {{"axis", 1L}}, {f32({2, 3}, {1, 3, 3, 9, 2, 9})}, DType::I64),
            i64({2, 1}, {1, 0}));
  EXPECT_EQ(one("ArgMin", {{"axis", 1L}, {"keepdims", 0L}, {"select_last_index", 1L}},
                {f32({1, 4}, {1, 0, 0, 9})}, DType::I64),
            i64({1}, {2}));
}

TEST(Products, MultiplyMatrices) {
  const HostValue a = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  const HostValue b = f32({3, 2}, {1, 0, 0, 1, 1, 1});
  EXPECT_EQ(one("MatMul", {}, {a, b}, DType::F32), f32({2, 2}, {4, 5, 10, 11}));
  EXPECT_EQ(one("MatMul", {}, {f32({3}, {1, 1, 1}), b}, DType::F32), f32({2}, {2, 2}));
  EXPECT_EQ(one("MatMul", {}, {f32({2, 1, 3}, {1, 0, 0, 0, 1, 0}), b}, DType::F32),
            f32({2, 1, 2}, {1, 0, 0, 1}));
  const HostValue small{DType::I8, {1, 1}, {100}}, bytes{DType::U8, {1, 1}, {200}};
  EXPECT_EQ(one("MatMul", {}, {small, bytes}, DType::I32),
            (HostValue{DType::I32, {1, 1}, {20000}}));
  EXPECT_EQ(failure("MatMul", {}, {a, a}, {DType::F32}),
            "MatMul: shapes 2x3 and 2x3 cannot be multiplied");
}

TEST(Shapes, ShapeSizeRangeAndConstant) {
  const HostValue data = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(one("Shape", {}, {data}, DType::I64), i64({2}, {2, 3}));
  EXPECT_EQ(one("Shape", {{"start", -1L}}, {data}, DType::I64), i64({1}, {3}));
  EXPECT_EQ(one("Size", {}, {data}, DType::I64), i64({}, {6}));
  EXPECT_EQ(one("Range", {}, {i64({}, {10}), i64({}, {3}), i64({}, {-3})}, DType::I64),
            i64({3}, {10, 7, 4}));
  EXPECT_EQ(one("Range", {}, {f32({}, {0}), f32({}, {1}), f32({}, {0.25})}, DType::F32),
            f32({4}, {0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(one("ConstantOfShape", {{"value", 3L}}, {i64({2}, {1, 2})}, DType::I32),
            (HostValue{DType::I32, {1, 2}, {3, 3}}));
  EXPECT_EQ(failure("ConstantOfShape", {}, {i64({1}, {1e18})}, {DType::F32}).substr(0, 27),
            "ConstantOfShape: output 0 o");
}

}  // namespace
}  // namespace attune::runtime

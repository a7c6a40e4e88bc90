#include <gtest/gtest.h>

#include "compiler/graph/passes/interpret_testing.h"
#include "compiler/graph/passes/passes.h"

namespace attune::graph {
namespace {

using Shape = std::vector<std::int64_t>;

class Rows {
 private:
  Builder builder_{"rows"};

 public:
  ValueId x;

  Rows() : x(builder_.input("x", {ir::kF32, {2, 3, 8}, {}})) {}
  ValueId operator()(const std::string& op, std::vector<ValueId> inputs) {
    return *builder_.add(op, std::move(inputs));
  }
  ValueId operator()(double number) {
    return builder_.constant(ops::scalar_constant(ir::kF32, number));
  }
  ValueId reduce(const std::string& op, ValueId y, std::int64_t keepdims = 1) {
    return *builder_.add(op, {y}, {{"axes", Shape{2}}, {"keepdims", keepdims}});
  }
  ValueId parameter(unsigned seed) {
    return builder_.constant(random_constant({ir::kF32, {8}, {}}, seed));
  }
  std::string recognised(ValueId y) {
    const Graph graph = std::move(builder_).finish({y});
    const auto after = optimise(graph);
    EXPECT_TRUE(after.ok()) << after.error().message;
    EXPECT_EQ(difference(graph, *after), "");
    return sketch(*after);
  }
};

TEST(RecogniseRows, Softmax) {
  Rows r;
  const ValueId power = r("exp", {r("sub", {r.x, r.reduce("reduce_max", r.x)})});
  EXPECT_EQ(r.recognised(r("div", {power, r.reduce("reduce_sum", power)})),
            "%1 = softmax(%0) {axis=2}\nreturn %1\n");
}

TEST(RecogniseRows, LogOfSoftmax) {
  Rows r;
  const ValueId power = r("exp", {r.x});
  const ValueId inverse = r("reciprocal", {r.reduce("reduce_sum", power)});
  EXPECT_EQ(r.recognised(r("log", {r("mul", {inverse, power})})),
            "%1 = log_softmax(%0) {axis=2}\nreturn %1\n");
}

TEST(RecogniseRows, LayerNorm) {
  Rows r;  // as PyTorch's exporter writes it, with the difference computed twice
  const ValueId a = r("sub", {r.x, r.reduce("reduce_mean", r.x)});
  const ValueId b = r("sub", {r.x, r.reduce("reduce_mean", r.x)});
  const ValueId variance = r.reduce("reduce_mean", r("pow", {a, r(2)}));
  const ValueId root = r("sqrt", {r("add", {variance, r(0.5)})});
  const ValueId scaled = r("mul", {r("div", {b, root}), r.parameter(1)});
  EXPECT_EQ(r.recognised(r("add", {scaled, r.parameter(2)})),
            "%1 = layer_norm(%0, f32[8], f32[8]) {axis=2, epsilon=0.5}\nreturn %1\n");
}

TEST(RecogniseRows, LayerNormAsTensorFlowWritesIt) {
  Rows r;  // x * g + (b - mean * g)
  const ValueId mean = r.reduce("reduce_mean", r.x);
  const ValueId d = r("sub", {r.x, mean});
  const ValueId variance = r.reduce("reduce_mean", r("mul", {d, d}));
  const ValueId inverse = r("reciprocal", {r("sqrt", {r("add", {variance, r(0.25)})})});
  const ValueId g = r("mul", {inverse, r.parameter(1)});
  const ValueId shift = r("sub", {r.parameter(2), r("mul", {mean, g})});
  EXPECT_EQ(r.recognised(r("add", {r("mul", {r.x, g}), shift})),
            "%1 = layer_norm(%0, f32[8], f32[8]) {axis=2, epsilon=0.25}\nreturn %1\n");
}

TEST(RecogniseRows, RmsNorm) {
  Rows r;
  const ValueId mean = r.reduce("reduce_mean", r("pow", {r.x, r(2)}));
  const ValueId inverse = r("div", {r(1), r("sqrt", {r("add", {mean, r(0.5)})})});
  EXPECT_EQ(r.recognised(r("mul", {r.parameter(1), r("mul", {r.x, inverse})})),
            "%1 = rms_norm(%0, f32[8]) {axis=2, epsilon=0.5}\nreturn %1\n");
}

TEST(RecogniseRows, LeavesOtherMeans) {
  Rows r;  // the mean of something else
  const ValueId mean = r.reduce("reduce_mean", r("mul", {r.x, r("abs", {r.x})}));
  const ValueId root = r("sqrt", {r("add", {r("abs", {mean}), r(0.5)})});
  EXPECT_EQ(r.recognised(r("div", {r.x, root})),
            "%1 = abs(%0)\n"
            "%2 = mul(%0, %1)\n"
            "%3 = reduce_mean(%2) {axes=[2], keepdims=1}\n"
            "%4 = abs(%3)\n"
            "%5 = add(%4, 0.5)\n"
            "%6 = sqrt(%5)\n"
            "%7 = div(%0, %6)\n"
            "return %7\n");
}

TEST(RecognisePools, MeansOfImages) {
  Builder builder("image");
  const ValueId x = builder.input("x", {ir::kF32, {1, 3, 4, 5}, {}});
  const ValueId y =
      *builder.add("reduce_mean", {x}, {{"axes", Shape{2, 3}}, {"keepdims", std::int64_t{0}}});
  const Graph graph = std::move(builder).finish({y});
  const auto after = optimise(graph);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(difference(graph, *after), "");
  EXPECT_EQ(sketch(*after),
            "%1 = global_average_pool(%0)\n"
            "%2 = reshape(%1) {shape=[1,3]}\n"
            "return %2\n");
}

}  // namespace
}  // namespace attune::graph

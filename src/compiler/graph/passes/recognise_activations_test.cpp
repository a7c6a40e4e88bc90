#include <gtest/gtest.h>

#include <cmath>

#include "compiler/graph/passes/interpret_testing.h"
#include "compiler/graph/passes/pass_list.h"

namespace attune::graph {
namespace {

// Writes formulas node by node.
class Formula {
 private:
  Builder builder_{"formula"};

 public:
  ValueId x;

  Formula() : x(builder_.input("x", {ir::kF32, {4, 8}, {}})) {}
  ValueId operator()(const std::string& op, std::vector<ValueId> inputs) {
    return *builder_.add(op, std::move(inputs));
  }
  ValueId operator()(double number) {
    return builder_.constant(ops::scalar_constant(ir::kF32, number));
  }
  // What the pass makes of it, alone and behind the passes before it.
  std::string recognised(ValueId y) {
    const Graph graph = std::move(builder_).finish({y});
    const auto after = recognise_activations(graph, {});
    EXPECT_TRUE(after.ok());
    EXPECT_EQ(difference(graph, *after), "");
    const auto all = optimise(graph);
    EXPECT_TRUE(all.ok());
    EXPECT_EQ(sketch(*all), sketch(*after));
    return sketch(*after);
  }
};

const char* const kGelu = "%1 = gelu(%0) {approximate=none}\nreturn %1\n";
const char* const kGeluTanh = "%1 = gelu(%0) {approximate=tanh}\nreturn %1\n";

TEST(RecogniseActivations, GeluByErf) {
  Formula f;  // (x * (1 + erf(x / sqrt 2))) * 0.5
  const ValueId bell = f("add", {f("erf", {f("div", {f.x, f(1.41421356)})}), f(1)});
  EXPECT_EQ(f.recognised(f("mul", {f("mul", {f.x, bell}), f(0.5)})), kGelu);
}

TEST(RecogniseActivations, GeluByErfWithOperandsSwapped) {
  Formula f;  // x * (0.5 * (1 + erf(0.7071 * x)))
  const ValueId bell = f("add", {f(1), f("erf", {f("mul", {f(0.70710678), f.x})})});
  EXPECT_EQ(f.recognised(f("mul", {f("mul", {f(0.5), bell}), f.x})), kGelu);
}

TEST(RecogniseActivations, GeluByErfFromHalf) {
  Formula f;  // (0.5 * x) * (1 + erf(x / sqrt 2))
  const ValueId bell = f("add", {f("erf", {f("div", {f.x, f(std::sqrt(2.0))})}), f(1)});
  EXPECT_EQ(f.recognised(f("mul", {f("mul", {f.x, f(0.5)}), bell})), kGelu);
}

TEST(RecogniseActivations, GeluByTanh) {
  Formula f;  // 0.5 * x * (1 + tanh(0.79788 * (x + 0.044715 * x^3)))
  const ValueId cube = f("mul", {f("pow", {f.x, f(3)}), f(0.044715)});
  const ValueId inner = f("mul", {f("add", {f.x, cube}), f(0.7978845608)});
  const ValueId bell = f("add", {f("tanh", {inner}), f(1)});
  EXPECT_EQ(f.recognised(f("mul", {f("mul", {f(0.5), f.x}), bell})), kGeluTanh);
}

TEST(RecogniseActivations, GeluByTanhFactored) {
  Formula f;  // x * 0.79788 * (1 + 0.044715 * x * x)
  const ValueId square = f("mul", {f("mul", {f(0.044715), f.x}), f.x});
  const ValueId inner = f("mul", {f("mul", {f.x, f(0.79788456)}), f("add", {square, f(1)})});
  const ValueId bell = f("mul", {f("add", {f("tanh", {inner}), f(1)}), f(0.5)});
  EXPECT_EQ(f.recognised(f("mul", {f.x, bell})), kGeluTanh);
}

TEST(RecogniseActivations, QuickGeluIsSwish) {
  Formula f;
  const ValueId gate = f("sigmoid", {f("mul", {f.x, f(1.75)})});
  EXPECT_EQ(f.recognised(f("mul", {f.x, gate})).substr(0, 25), "%1 = swish(%0) {alpha=1.7");
}

TEST(RecogniseActivations, Silu) {
  Formula f;
  EXPECT_EQ(f.recognised(f("mul", {f("sigmoid", {f.x}), f.x})), "%1 = silu(%0)\nreturn %1\n");
}

TEST(RecogniseActivations, SiluByExp) {
  Formula f;
  const ValueId below = f("add", {f("exp", {f("neg", {f.x})}), f(1)});
  EXPECT_EQ(f.recognised(f("div", {f.x, below})), "%1 = silu(%0)\nreturn %1\n");
}

TEST(RecogniseActivations, Mish) {
  Formula f;
  const ValueId softplus = f("log", {f("add", {f("exp", {f.x}), f(1)})});
  EXPECT_EQ(f.recognised(f("mul", {f.x, f("tanh", {softplus})})), "%1 = mish(%0)\nreturn %1\n");
}

TEST(RecogniseActivations, HardSwish) {
  Formula f;
  const ValueId six = f("clip", {f("add", {f.x, f(3)}), f(0), f(6)});
  EXPECT_EQ(f.recognised(f("div", {f("mul", {f.x, six}), f(6)})),
            "%1 = hard_swish(%0)\nreturn %1\n");
}

TEST(RecogniseActivations, HardSwishByHardSigmoid) {
  Formula f;
  const ValueId line = f("add", {f("mul", {f.x, f(1.0 / 6)}), f(0.5)});
  const ValueId gate = f("min", {f("max", {line, f(0)}), f(1)});
  EXPECT_EQ(f.recognised(f("mul", {gate, f.x})), "%1 = hard_swish(%0)\nreturn %1\n");
}

TEST(RecogniseActivations, HardSigmoid) {
  Formula f;
  const ValueId line = f("add", {f("mul", {f.x, f(0.25)}), f(0.5)});
  EXPECT_EQ(f.recognised(f("clip", {line, f(0), f(1)})).substr(0, 31),
            "%1 = hard_sigmoid(%0) {alpha=0.");
}

TEST(RecogniseActivations, LeakyRelu) {
  Formula f;
  EXPECT_EQ(f.recognised(f("max", {f("mul", {f.x, f(0.125)}), f.x})),
            "%1 = leaky_relu(%0) {alpha=0.125}\nreturn %1\n");
}

TEST(RecogniseActivations, LeavesOtherFormulas) {
  Formula f;  // GELU with another slope
  const ValueId bell = f("add", {f("erf", {f("mul", {f.x, f(0.75)})}), f(1)});
  EXPECT_EQ(f.recognised(f("mul", {f("mul", {f.x, bell}), f(0.5)})),
            "%1 = mul(%0, 0.75)\n"
            "%2 = erf(%1)\n"
            "%3 = add(%2, 1)\n"
            "%4 = mul(%0, %3)\n"
            "%5 = mul(%4, 0.5)\n"
            "return %5\n");
}

}  // namespace
}  // namespace attune::graph

#include "compiler/graph/passes/scalar_functions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/graph/evaluate_testing.h"

namespace attune::graph {
namespace {

// Attributes for all of them; an operator looks at its own.
const Attributes kAttributes{{"alpha", 0.2}, {"beta", 0.5}, {"approximate", "tanh"}};

std::size_t operands_of(std::string_view op) {
  if (op == "clip") return 3;
  for (const std::string_view two : {"add", "sub", "mul", "div", "pow", "min", "max"}) {
    if (op == two) return 2;
  }
  return 1;
}

TEST(ScalarFunctions, AreWhatTheOperatorsMean) {
  const Numbers places{-3.25, -1, -0.5, 0, 0.125, 1, 2.5, 7};
  for (const ScalarFunction& function : scalar_functions()) {
    SCOPED_TRACE(function.op);
    std::vector<ConstantPtr> inputs{tensor(ir::kF64, {8}, places)};
    Numbers operands{0};
    for (std::size_t i = 1; i < operands_of(function.op); ++i) {
      operands.push_back(static_cast<double>(i) / 2);
      inputs.push_back(tensor(ir::kF64, {}, {operands.back()}));
    }
    const Evaluated expected = run(function.op, inputs, kAttributes);
    for (std::size_t i = 0; i < places.size(); ++i) {
      operands[0] = places[i];
      const double value = function.value(kAttributes, operands), meant = expected.values[i];
      if (value == meant || (std::isnan(value) && std::isnan(meant))) continue;
      EXPECT_NEAR(value, meant, 1e-12 * std::max(1.0, std::abs(meant))) << places[i];
    }
  }
}

TEST(ScalarFunctions, LeaveOutOptionalOperands) {
  const auto clip = find_scalar_function("clip")->value;
  EXPECT_EQ(clip({}, {3, std::nan(""), 2}), 2);
  EXPECT_EQ(clip({}, {-3, -1, std::nan("")}), -1);
  EXPECT_EQ(find_scalar_function("conv"), nullptr);
}

}  // namespace
}  // namespace attune::graph

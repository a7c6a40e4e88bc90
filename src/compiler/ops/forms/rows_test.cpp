// Operators over the rows of a matrix: softmax, layer normalisation, reductions, and elementwise
// chains and transposes beside them.
#include <cmath>

#include <gtest/gtest.h>

#include "compiler/ops/evaluate_testing.h"
#include "compiler/ops/forms/elementwise.h"
#include "compiler/ops/forms/layernorm.h"
#include "compiler/ops/forms/reduce.h"
#include "compiler/ops/forms/softmax.h"
#include "compiler/ops/forms/transpose.h"

namespace attune::ops {
namespace {

TEST(Softmax, MatchesTheDefinition) {
  const std::size_t m = 3;
  const std::size_t n = 7;
  Rng rng(1);
  Values data = random_values(m * n, rng);
  data[2] += 200;  // exp would overflow without the shift by the maximum
  Values expected;
  for (std::size_t i = 0; i < m; ++i) {
    const Values row(data.begin() + static_cast<std::ptrdiff_t>(i * n),
                     data.begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
    double greatest = row[0];
    for (double v : row) greatest = std::max(greatest, v);
    double sum = 0;
    for (double v : row) sum += std::exp(v - greatest);
    for (double v : row) expected.push_back(std::exp(v - greatest) / sum);
  }
  const ir::Program program = *build_softmax({.m = 3, .n = 7});
  EXPECT_LE(largest_difference(evaluate(program, {{"data", data}}), expected), 1e-6);
  std::vector<std::string> names;
  for (const ir::Stage& stage : program.stages) names.push_back(stage.name);
  EXPECT_EQ(names, (std::vector<std::string>{"max", "exp", "sum", "output"}));
}

TEST(Layernorm, MatchesTheDefinition) {
  const std::size_t m = 2;
  const std::size_t n = 9;
  Rng rng(2);
  Values data = random_values(m * n, rng);
  for (std::size_t j = 0; j < n; ++j) data[j] += 1000;  // a sum of squares would lose the variance
  const Values gamma = random_values(n, rng);
  const Values beta = random_values(n, rng);
  Values expected;
  for (std::size_t i = 0; i < m; ++i) {
    double mean = 0;
    double variance = 0;
    for (std::size_t j = 0; j < n; ++j) mean += data[i * n + j] / static_cast<double>(n);
    for (std::size_t j = 0; j < n; ++j) {
      variance += std::pow(data[i * n + j] - mean, 2) / static_cast<double>(n);
    }
    for (std::size_t j = 0; j < n; ++j) {
      expected.push_back((data[i * n + j] - mean) / std::sqrt(variance + 1e-5) * gamma[j] +
                         beta[j]);
    }
  }
  const ir::Program program = *build_layernorm({.m = 2, .n = 9});
  const Values out = evaluate(program, {{"data", data}, {"gamma", gamma}, {"beta", beta}});
  EXPECT_LE(largest_difference(out, expected), 1e-3);
  EXPECT_LE(std::abs(out[n + 3] - expected[n + 3]), 1e-5);
  EXPECT_TRUE(program.inputs[1].constant && program.inputs[2].constant);
  EXPECT_EQ(build_layernorm({.m = 2, .n = 9, .epsilon = 0}).error().message,
            "epsilon is 0, must be positive");
}

Values reduced(ReduceOp op, const Values& data, std::int64_t m, std::int64_t n,
               ir::DType type = ir::kF32) {
  return evaluate(*build_reduce({.op = op, .m = m, .n = n, .dtype = type}), {{"data", data}});
}

TEST(Reduce, MatchesTheDefinition) {
  const Values data{1, 2, 3, 4, -1, 0.5, -2, 8};
  EXPECT_EQ(reduced(ReduceOp::Sum, data, 2, 4), (Values{10, 5.5}));
  EXPECT_EQ(reduced(ReduceOp::Mean, data, 2, 4), (Values{2.5, 1.375}));
  EXPECT_EQ(reduced(ReduceOp::Prod, data, 2, 4), (Values{24, 8}));
  EXPECT_EQ(reduced(ReduceOp::Max, data, 2, 4), (Values{4, 8}));
  EXPECT_EQ(reduced(ReduceOp::Min, data, 2, 4), (Values{1, -2}));
  EXPECT_EQ(reduced(ReduceOp::ArgMax, data, 2, 4), (Values{3, 3}));
  EXPECT_EQ(reduced(ReduceOp::ArgMin, data, 2, 4), (Values{0, 2}));
  EXPECT_EQ(reduced(ReduceOp::Max, {-5, -3, -9}, 1, 3, ir::kI32), (Values{-3}));
}

TEST(Reduce, FirstOfEqualsWins) {
  const Values data{1, 7, 7, 7, 0, 0, 3, 0};
  EXPECT_EQ(reduced(ReduceOp::ArgMax, data, 2, 4), (Values{1, 2}));
  EXPECT_EQ(reduced(ReduceOp::ArgMin, data, 2, 4), (Values{0, 0}));
  EXPECT_EQ(build_reduce({.op = ReduceOp::ArgMax, .m = 2, .n = 4})->outputs[0]->type, ir::kI64);
}

TEST(Reduce, MeanNeedsFloats) {
  EXPECT_EQ(build_reduce({.op = ReduceOp::Mean, .m = 1, .n = 1, .dtype = ir::kI32}).error().message,
            "mean does not take elements of type i32");
}

TEST(Elementwise, Chains) {
  const Result<std::vector<ElementwiseOp>> chain = parse_chain("add+bias+relu");
  ASSERT_TRUE(chain.ok());
  const ir::Program program = *build_elementwise({.m = 2, .n = 2, .chain = *chain});
  EXPECT_EQ(evaluate(program,
                     {{"data", {1, 2, 3, 4}}, {"operand0", {1, -8, 1, 1}}, {"operand1", {10, -5}}}),
            (Values{12, 0, 14, 0}));
  EXPECT_FALSE(program.inputs[1].constant);
  EXPECT_TRUE(program.inputs[2].constant);
  std::vector<std::string> names;
  for (const ir::Stage& stage : program.stages) names.push_back(stage.name);
  EXPECT_EQ(names, (std::vector<std::string>{"epilogue.0", "epilogue.1", "output"}));
  EXPECT_EQ(parse_chain("bias_relu")->size(), 2u);
}

TEST(Elementwise, EveryOperator) {
  const Values data{-1.5, 0.25, 1, 7};
  const Values other{2, -0.5, 0.25, 3};
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const auto hard = [](double x) { return std::max(0.0, std::min(1.0, x / 6 + 0.5)); };
  const std::map<std::string, double (*)(double, double)> plain{
      {"relu", [](double x, double) { return std::max(x, 0.0); }},
      {"relu6", [](double x, double) { return std::min(std::max(x, 0.0), 6.0); }},
      {"leaky_relu", [](double x, double) { return x < 0 ? 0.01 * x : x; }},
      {"tanh", [](double x, double) { return std::tanh(x); }},
      {"gelu", [](double x, double) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"exp", [](double x, double) { return std::exp(x); }},
      {"erf", [](double x, double) { return std::erf(x); }},
      {"abs", [](double x, double) { return std::abs(x); }},
      {"neg", [](double x, double) { return -x; }},
      {"add", [](double x, double y) { return x + y; }},
      {"sub", [](double x, double y) { return x - y; }},
      {"mul", [](double x, double y) { return x * y; }},
      {"div", [](double x, double y) { return x / y; }},
      {"max", [](double x, double y) { return std::max(x, y); }},
      {"min", [](double x, double y) { return std::min(x, y); }},
      {"bias", [](double x, double y) { return x + y; }},
      {"scale", [](double x, double y) { return x * y; }},
  };
  for (const ElementwiseOp& op : elementwise_ops()) {
    SCOPED_TRACE(op.name);
    const bool root = op.name == "log" || op.name == "sqrt";
    const Values out =
        evaluate(*build_elementwise({.m = 1, .n = 4, .chain = {op}}),
                 {{"data", root ? Values{1, 4, 2, 0.5} : data}, {"operand0", other}});
    Values expected;
    for (std::size_t i = 0; i < 4; ++i) {
      const double x = data[i];
      if (op.name == "log")
        expected.push_back(std::log(Values{1, 4, 2, 0.5}[i]));
      else if (op.name == "sqrt")
        expected.push_back(std::sqrt(Values{1, 4, 2, 0.5}[i]));
      else if (op.name == "sigmoid")
        expected.push_back(sigmoid(x));
      else if (op.name == "silu")
        expected.push_back(x * sigmoid(x));
      else if (op.name == "hard_sigmoid")
        expected.push_back(hard(x));
      else if (op.name == "hard_swish")
        expected.push_back(x * hard(x));
      else
        expected.push_back(plain.at(std::string(op.name))(x, other[i]));
    }
    EXPECT_LE(largest_difference(out, expected), 1e-4);
  }
}

TEST(Elementwise, RefusesUnknownOperators) {
  const Error error = parse_chain("relu+foo").error();
  EXPECT_EQ(error.message, "unknown elementwise operator 'foo'");
  EXPECT_EQ(error.hint.rfind("chain some of add, sub, mul, ", 0), 0u);
  EXPECT_EQ(parse_chain("relu+").error().message, "unknown elementwise operator ''");
  EXPECT_EQ(build_elementwise({.m = 1, .n = 1, .chain = *parse_chain("exp"), .dtype = ir::kI32})
                .error()
                .message,
            "exp does not take elements of type i32");
}

TEST(Transpose, MovesDimensions) {
  const Values data{0, 1, 2, 3, 4, 5};
  EXPECT_EQ(evaluate(*build_transpose({.shape = {1, 2, 3}, .perm = {0, 2, 1}}), {{"data", data}}),
            (Values{0, 3, 1, 4, 2, 5}));
  const ir::Program program = *build_transpose({.shape = {2, 3, 4}, .perm = {2, 0, 1}});
  EXPECT_EQ(program.outputs[0]->shape, (std::vector<std::int64_t>{4, 2, 3}));
  Rng rng(3);
  const Values cube = random_values(24, rng);
  const Values out = evaluate(program, {{"data", cube}});
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_EQ(out[(i * 2 + j) * 3 + k], cube[(j * 3 + k) * 4 + i]);
}

}  // namespace
}  // namespace attune::ops

#include "compiler/graph/passes/scalar_functions.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace attune::graph {
namespace {

using ops::Attributes;
using Operands = std::vector<double>;

double real(const Attributes& attributes, std::string_view key) {
  return std::get<double>(attributes.find(key)->second);
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double line(double x, double alpha, double beta) { return std::clamp(alpha * x + beta, 0.0, 1.0); }

double clip(const Attributes&, const Operands& a) {
  double value = a[0];
  if (a.size() > 1 && !std::isnan(a[1])) value = std::max(value, a[1]);
  return a.size() > 2 && !std::isnan(a[2]) ? std::min(value, a[2]) : value;
}

double gelu(const Attributes& attributes, const Operands& a) {
  const double x = a[0];
  if (std::get<std::string>(attributes.find("approximate")->second) == "tanh") {
    return x * 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  return x * 0.5 * (1 + std::erf(x * std::sqrt(0.5)));
}

constexpr std::array kFunctions{
    ScalarFunction{"add", [](const Attributes&, const Operands& a) { return a[0] + a[1]; }, true},
    ScalarFunction{"sub", [](const Attributes&, const Operands& a) { return a[0] - a[1]; }, true},
    ScalarFunction{"mul", [](const Attributes&, const Operands& a) { return a[0] * a[1]; }, true},
    ScalarFunction{"div", [](const Attributes&, const Operands& a) { return a[0] / a[1]; }, true},
    ScalarFunction{"pow", [](const Attributes&, const Operands& a) { return std::pow(a[0], a[1]); },
                   true},
    ScalarFunction{"min", [](const Attributes&, const Operands& a) { return std::min(a[0], a[1]); },
                   true},
    ScalarFunction{"max", [](const Attributes&, const Operands& a) { return std::max(a[0], a[1]); },
                   true},
    ScalarFunction{"clip", clip, true},
    ScalarFunction{"neg", [](const Attributes&, const Operands& a) { return -a[0]; }, true},
    ScalarFunction{"abs", [](const Attributes&, const Operands& a) { return std::abs(a[0]); },
                   true},
    ScalarFunction{"reciprocal", [](const Attributes&, const Operands& a) { return 1 / a[0]; },
                   true},
    ScalarFunction{"sqrt", [](const Attributes&, const Operands& a) { return std::sqrt(a[0]); },
                   true},
    ScalarFunction{"exp", [](const Attributes&, const Operands& a) { return std::exp(a[0]); },
                   true},
    ScalarFunction{"log", [](const Attributes&, const Operands& a) { return std::log(a[0]); },
                   true},
    ScalarFunction{"erf", [](const Attributes&, const Operands& a) { return std::erf(a[0]); },
                   true},
    ScalarFunction{"tanh", [](const Attributes&, const Operands& a) { return std::tanh(a[0]); },
                   true},
    ScalarFunction{"relu", [](const Attributes&, const Operands& a) { return std::max(a[0], 0.0); },
                   true},
    ScalarFunction{"sigmoid", [](const Attributes&, const Operands& a) { return sigmoid(a[0]); },
                   true},
    ScalarFunction{"softplus", [](const Attributes&, const Operands& a) { return softplus(a[0]); },
                   true},
    ScalarFunction{"hard_sigmoid",
                   [](const Attributes& attributes, const Operands& a) {
                     return line(a[0], real(attributes, "alpha"), real(attributes, "beta"));
                   },
                   true},
    ScalarFunction{"hard_swish", [](const Attributes&,
                                    const Operands& a) { return a[0] * line(a[0], 1.0 / 6, 0.5); }},
    ScalarFunction{"gelu", gelu},
    ScalarFunction{"mish", [](const Attributes&,
                              const Operands& a) { return a[0] * std::tanh(softplus(a[0])); }},
    ScalarFunction{"silu",
                   [](const Attributes&, const Operands& a) { return a[0] * sigmoid(a[0]); }},
    ScalarFunction{"swish",
                   [](const Attributes& attributes, const Operands& a) {
                     return a[0] * sigmoid(real(attributes, "alpha") * a[0]);
                   }},
    ScalarFunction{"leaky_relu",
                   [](const Attributes& attributes, const Operands& a) {
                     return a[0] < 0 ? real(attributes, "alpha") * a[0] : a[0];
                   }},
};

}  // namespace

std::span<const ScalarFunction> scalar_functions() { return kFunctions; }

const ScalarFunction* find_scalar_function(std::string_view op) {
  const auto found =
      std::find_if(kFunctions.begin(), kFunctions.end(),
                   [&](const ScalarFunction& function) { return function.op == op; });
  return found == kFunctions.end() ? nullptr : &*found;
}

}  // namespace attune::graph

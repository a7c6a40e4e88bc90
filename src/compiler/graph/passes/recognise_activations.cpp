// Activations that exporters write out: GELU in both forms, sigmoid, SiLU and swish, mish,
// softplus, hard sigmoid and hard swish, leaky ReLU. Spellings differ, so what counts is what the
// nodes compute: a cone of nodes that agrees with an activation wherever it is tried becomes that
// one.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"
#include "compiler/graph/passes/scalar_cone.h"

namespace attune::graph {
namespace {

// Places where activations differ; the first three are used to find parameters.
constexpr std::array kPlaces{0.0,  1.0, -1.0, 0.1, -0.1, 0.5, -0.5, 0.75, -0.75, 1.5,  -1.5, 2.0,
                             -2.0, 2.5, -2.5, 3.1, -3.1, 4.5, -4.5, 7.0,  -7.0,  12.0, -12.0};
using Samples = std::array<double, kPlaces.size()>;

// Exporters round constants to a few digits; the two forms of GELU are 5e-4 apart.
constexpr double kTolerance = 5e-6;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

double gelu(double x, double, double) { return x * 0.5 * (1 + std::erf(x * std::sqrt(0.5))); }
double gelu_tanh(double x, double, double) {
  return x * 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double plain_sigmoid(double x, double, double) { return sigmoid(x); }
double plain_softplus(double x, double, double) { return softplus(x); }
double mish(double x, double, double) { return x * std::tanh(softplus(x)); }
double swish(double x, double alpha, double) { return x * sigmoid(alpha * x); }
double hard_sigmoid(double x, double alpha, double beta) {
  return std::clamp(alpha * x + beta, 0.0, 1.0);
}
double hard_swish(double x, double, double) { return x * hard_sigmoid(x, 1.0 / 6, 0.5); }
double leaky_relu(double x, double alpha, double) { return x < 0 ? alpha * x : x; }

// A parameter between 0 and `limit`, or NaN, with which nothing agrees.
double within(double parameter, double limit) {
  return parameter > 1e-3 && parameter < limit - 1e-3 ? parameter
                                                      : std::numeric_limits<double>::quiet_NaN();
}

struct Activation {
  std::string_view op;
  double (*value)(double x, double alpha, double beta);
  // Parameters from the samples.
  double (*alpha)(const Samples&) = nullptr;
  double (*beta)(const Samples&) = nullptr;
  std::string_view approximate = {};
};

constexpr std::array kActivations{
    Activation{"gelu", gelu, nullptr, nullptr, "none"},
    Activation{"gelu", gelu_tanh, nullptr, nullptr, "tanh"},
    Activation{"sigmoid", plain_sigmoid},
    Activation{"softplus", plain_softplus},
    Activation{"mish", mish},
    Activation{"hard_swish", hard_swish},
    Activation{"silu", [](double x, double, double) { return x * sigmoid(x); }},
    // sigmoid(alpha) at 1
    Activation{"swish", swish,
               [](const Samples& y) { return within(std::log(y[1] / (1 - y[1])), 100); }},
    // 0.2 alpha between -0.1 and 0.1
    Activation{"hard_sigmoid", hard_sigmoid,
               [](const Samples& y) { return within((y[3] - y[4]) / 0.2, 100); },
               [](const Samples& y) { return y[0]; }},
    Activation{"leaky_relu", leaky_relu, [](const Samples& y) { return within(-y[2], 1); }},
};

std::optional<Attributes> match(const Activation& activation, const Samples& samples) {
  const double alpha = activation.alpha != nullptr ? activation.alpha(samples) : 0;
  const double beta = activation.beta != nullptr ? activation.beta(samples) : 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double expected = activation.value(kPlaces[i], alpha, beta);
    const double error = std::abs(samples[i] - expected);
    if (!(error <= kTolerance * std::max(1.0, std::abs(expected)))) return std::nullopt;
  }
  Attributes attributes;
  if (activation.alpha != nullptr) attributes["alpha"] = alpha;
  if (activation.beta != nullptr) attributes["beta"] = beta;
  if (!activation.approximate.empty()) {
    attributes["approximate"] = std::string(activation.approximate);
  }
  return attributes;
}

bool recognise(Rewriter& rewriter, int n) {
  std::vector<Cone> cones = cones_of(rewriter, n);
  for (auto cone = cones.rbegin(); cone != cones.rend(); ++cone) {
    Samples samples{};
    std::transform(kPlaces.begin(), kPlaces.end(), samples.begin(),
                   [&](double x) { return evaluate_cone(rewriter, *cone, x); });
    for (const Activation& activation : kActivations) {
      const auto attributes = match(activation, samples);
      if (!attributes || !has_operators({activation.op})) continue;
      const Node& root = rewriter.node(n);
      return rewriter.replace(root.outputs[0],
                              rewriter.add(activation.op, {cone->input}, *attributes, root.name));
    }
  }
  return false;
}

}  // namespace

Result<Graph> recognise_activations(const Graph& graph, const PassContext& /*context*/) {
  Rewriter rewriter(graph);
  rewrite_nodes(rewriter, [&](int n) { return recognise(rewriter, n); });
  return std::move(rewriter).finish();
}

}  // namespace attune::graph

// Activations that exporters write out: GELU in both forms, sigmoid, SiLU and swish, mish,
// softplus, hard sigmoid and hard swish, leaky ReLU. Spellings differ, so what counts is what the
// nodes compute: a cone of nodes that agrees with an activation wherever it is tried becomes that
// one.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "compiler/graph/passes/match.h"
#include "compiler/graph/passes/pass_list.h"
#include "compiler/graph/passes/scalar_cone.h"
#include "compiler/graph/passes/scalar_functions.h"

namespace attune::graph {
namespace {

// Places where activations differ; the first three are used to find parameters.
constexpr std::array kPlaces{0.0,  1.0, -1.0, 0.1, -0.1, 0.5, -0.5, 0.75, -0.75, 1.5,  -1.5, 2.0,
                             -2.0, 2.5, -2.5, 3.1, -3.1, 4.5, -4.5, 7.0,  -7.0,  12.0, -12.0};
using Samples = std::array<double, kPlaces.size()>;

// Exporters round constants to a few digits; the two forms of GELU are 5e-4 apart.
constexpr double kTolerance = 5e-6;

// A parameter between 0 and `limit`, or NaN, with which nothing agrees.
double within(double parameter, double limit) {
  return parameter > 1e-3 && parameter < limit - 1e-3 ? parameter
                                                      : std::numeric_limits<double>::quiet_NaN();
}

struct Activation {
  std::string_view op;
  // Parameters from the samples.
  double (*alpha)(const Samples&) = nullptr;
  double (*beta)(const Samples&) = nullptr;
  std::string_view approximate = {};
};

constexpr std::array kActivations{
    Activation{"gelu", nullptr, nullptr, "none"},
    Activation{"gelu", nullptr, nullptr, "tanh"},
    Activation{"sigmoid"},
    Activation{"softplus"},
    Activation{"mish"},
    Activation{"hard_swish"},
    Activation{"silu"},
    // sigmoid(alpha) at 1
    Activation{"swish", [](const Samples& y) { return within(std::log(y[1] / (1 - y[1])), 100); }},
    // 0.2 alpha between -0.1 and 0.1
    Activation{"hard_sigmoid", [](const Samples& y) { return within((y[3] - y[4]) / 0.2, 100); },
               [](const Samples& y) { return y[0]; }},
    Activation{"leaky_relu", [](const Samples& y) { return within(-y[2], 1); }},
};

Attributes attributes_of(const Activation& activation, const Samples& samples) {
  Attributes attributes;
  if (activation.alpha != nullptr) attributes["alpha"] = activation.alpha(samples);
  if (activation.beta != nullptr) attributes["beta"] = activation.beta(samples);
  if (!activation.approximate.empty()) {
    attributes["approximate"] = std::string(activation.approximate);
  }
  return attributes;
}

std::optional<Attributes> match(const Activation& activation, const Samples& samples) {
  const ScalarFunction* function = find_scalar_function(activation.op);
  CHECK(function != nullptr, "activations are scalar functions");
  Attributes attributes = attributes_of(activation, samples);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double expected = function->value(attributes, {kPlaces[i]});
    const double error = std::abs(samples[i] - expected);
    if (!(error <= kTolerance * std::max(1.0, std::abs(expected)))) return std::nullopt;
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

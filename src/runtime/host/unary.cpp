// Elementwise operators of one input, with their attributes as parameters.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "runtime/host/elementwise.h"
#include "runtime/host/list.h"

namespace attune::runtime::host {
namespace {

using Real = double (*)(double x, const double* p);
using Whole = std::int64_t (*)(std::int64_t x);

struct Unary {
  std::string_view name;
  Real real = nullptr;
  Whole whole = nullptr;
  // Up to two attributes that the function takes as p[0] and p[1], with their defaults.
  std::array<std::string_view, 2> attributes = {};
  std::array<double, 2> defaults = {};
};

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
std::int64_t wrapped_negative(std::int64_t x) {
  return static_cast<std::int64_t>(std::uint64_t{0} - static_cast<std::uint64_t>(x));
}

constexpr double kSeluAlpha = 1.67326319217681884765625;
constexpr double kSeluGamma = 1.05070102214813232421875;

constexpr Unary kUnary[] = {
    {"Abs", [](double x, const double*) { return std::abs(x); },
     [](std::int64_t x) { return x < 0 ? wrapped_negative(x) : x; }},
    {"Neg", [](double x, const double*) { return -x; }, wrapped_negative},
    {"Sign",
     [](double x, const double*) {
       return std::isnan(x) ? x : static_cast<double>((x > 0) - (x < 0));
     },
     [](std::int64_t x) { return std::int64_t{(x > 0) - (x < 0)}; }},
    {"Relu", [](double x, const double*) { return x > 0 || std::isnan(x) ? x : 0.0; },
     [](std::int64_t x) { return x > 0 ? x : 0; }},
    {"Not", nullptr, [](std::int64_t x) { return std::int64_t{x == 0}; }},
    {"BitwiseNot", nullptr, [](std::int64_t x) { return ~x; }},
    {"IsNaN", [](double x, const double*) { return std::isnan(x) ? 1.0 : 0.0; }},
    {"IsInf",
     [](double x, const double* p) {
       return std::isinf(x) && (x > 0 ? p[0] : p[1]) != 0.0 ? 1.0 : 0.0;
     },
     nullptr,
     {"detect_positive", "detect_negative"},
     {1, 1}},
    {"Floor", [](double x, const double*) { return std::floor(x); }},
    {"Ceil", [](double x, const double*) { return std::ceil(x); }},
    {"Round", [](double x, const double*) { return std::nearbyint(x); }},
    {"Sqrt", [](double x, const double*) { return std::sqrt(x); }},
    {"Reciprocal", [](double x, const double*) { return 1.0 / x; }},
    {"Exp", [](double x, const double*) { return std::exp(x); }},
    {"Log", [](double x, const double*) { return std::log(x); }},
    {"Sin", [](double x, const double*) { return std::sin(x); }},
    {"Cos", [](double x, const double*) { return std::cos(x); }},
    {"Tan", [](double x, const double*) { return std::tan(x); }},
    {"Asin", [](double x, const double*) { return std::asin(x); }},
    {"Acos", [](double x, const double*) { return std::acos(x); }},
    {"Atan", [](double x, const double*) { return std::atan(x); }},
    {"Sinh", [](double x, const double*) { return std::sinh(x); }},
    {"Cosh", [](double x, const double*) { return std::cosh(x); }},
    {"Tanh", [](double x, const double*) { return std::tanh(x); }},
    {"Asinh", [](double x, const double*) { return std::asinh(x); }},
    {"Acosh", [](double x, const double*) { return std::acosh(x); }},
    {"Atanh", [](double x, const double*) { return std::atanh(x); }},
    {"Erf", [](double x, const double*) { return std::erf(x); }},
    {"Sigmoid", [](double x, const double*) { return sigmoid(x); }},
    {"Softplus", [](double x, const double*) { return softplus(x); }},
    {"Softsign", [](double x, const double*) { return x / (1.0 + std::abs(x)); }},
    {"Mish", [](double x, const double*) { return x * std::tanh(softplus(x)); }},
    {"HardSwish", [](double x, const double*) { return x * std::clamp(x / 6.0 + 0.5, 0.0, 1.0); }},
    {"LeakyRelu",
     [](double x, const double* p) { return x < 0 ? p[0] * x : x; },
     nullptr,
     {"alpha"},
     {0.01}},
    {"Elu",
     [](double x, const double* p) { return x < 0 ? p[0] * std::expm1(x) : x; },
     nullptr,
     {"alpha"},
     {1}},
    {"Celu",
     [](double x, const double* p) {
       return std::max(0.0, x) + std::min(0.0, p[0] * std::expm1(x / p[0]));
     },
     nullptr,
     {"alpha"},
     {1}},
    {"Selu",
     [](double x, const double* p) { return p[1] * (x > 0 ? x : p[0] * std::expm1(x)); },
     nullptr,
     {"alpha", "gamma"},
     {kSeluAlpha, kSeluGamma}},
    {"HardSigmoid",
     [](double x, const double* p) { return std::clamp(p[0] * x + p[1], 0.0, 1.0); },
     nullptr,
     {"alpha", "beta"},
     {0.2, 0.5}},
    {"ThresholdedRelu",
     [](double x, const double* p) { return x > p[0] ? x : 0.0; },
     nullptr,
     {"alpha"},
     {1}},
    {"Swish",
     [](double x, const double* p) { return x * sigmoid(p[0] * x); },
     nullptr,
     {"alpha"},
     {1}},
    {"Shrink",
     [](double x, const double* p) { return x < -p[1]  ? x + p[0]
                                            : x > p[1] ? x - p[0]
                                                       : 0.0; },
     nullptr,
     {"bias", "lambd"},
     {0, 0.5}},
};

double exact_gelu(double x) { return 0.5 * x * (1.0 + std::erf(x / std::numbers::sqrt2)); }
double tanh_gelu(double x) {
  const double inner = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1.0 + std::tanh(inner));
}

// Applies one function of the table, found by the operator's name, to blocks of elements.
Status run(const Call& call, const Unary& unary) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 1));
  if (!call.has_output(0)) return {};
  const HostTensor& input = call.inputs[0];
  const HostTensor& output = call.outputs[0];
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, output.type, input.shape));
  double parameters[2];
  for (std::size_t i = 0; i < 2; ++i) {
    parameters[i] = call.real(unary.attributes[i], unary.defaults[i]);
  }
  const std::int64_t elements = input.shape.elements();
  const bool whole = unary.whole != nullptr && domain_of(input.type) != Domain::Real;
  // Every u64 is positive already.
  const bool keep = input.type == DType::U64 && (call.op == "Abs" || call.op == "Relu");
  if (!whole && unary.real == nullptr) return call.bad("it takes no floating point");
  double reals[kBlock];
  std::int64_t integers[kBlock];
  for (std::int64_t start = 0; start < elements; start += kBlock) {
    const std::int64_t count = std::min(kBlock, elements - start);
    if (whole) {
      load_integers(integers, input, start, 1, count);
      for (std::int64_t i = 0; i < count && !keep; ++i) integers[i] = unary.whole(integers[i]);
      store_integers(output, start, integers, count);
    } else {
      load_reals(reals, input, start, 1, count);
      for (std::int64_t i = 0; i < count; ++i) reals[i] = unary.real(reals[i], parameters);
      store_reals(output, start, reals, count);
    }
  }
  return {};
}

}  // namespace

Status unary(const Call& call) {
  for (const Unary& known : kUnary) {
    if (known.name == call.op) return run(call, known);
  }
  return call.bad("it is not known");
}

Status gelu(const Call& call) {
  const bool approximate = call.text("approximate", "none") == "tanh";
  return run(call,
             {.name = "Gelu",
              .real = approximate ? Real{[](double x, const double*) { return tanh_gelu(x); }}
                                  : Real{[](double x, const double*) { return exact_gelu(x); }},
              .whole = nullptr});
}

}  // namespace attune::runtime::host

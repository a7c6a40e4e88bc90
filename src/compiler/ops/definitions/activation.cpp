// Functions of one real number: those of mathematics, and the activations of neural networks.
#include "compiler/ops/definitions/indexing.h"
#include "compiler/ops/definitions/pointwise.h"
#include "compiler/ops/op_def.h"

namespace attune::ops {
namespace {

using ir::Expr;
using ir::MathFn;

Expr real(const Expr& like, double value) { return imm(like.type(), value); }
Expr exp(const Expr& x) { return ir::math(MathFn::Exp, {x}); }
Expr tanh(const Expr& x) { return ir::math(MathFn::Tanh, {x}); }
Expr log(const Expr& x) { return ir::math(MathFn::Log, {x}); }
Expr zero(const Expr& like) { return ir::zero_of(like.type()); }

// In this order a NaN stays one.
Expr relu(const Expr& x) { return ir::max(zero(x), x); }
// log(1 + e^x) without overflow: max(x, 0) + log(1 + e^-|x|).
Expr softplus(const Expr& x) {
  const Expr small = exp(ir::math(MathFn::Neg, {ir::math(MathFn::Abs, {x})}));
  return relu(x) + log(real(x, 1) + small);
}
Expr softsign(const Expr& x) { return x / (real(x, 1) + ir::math(MathFn::Abs, {x})); }
Expr silu(const Expr& x) { return x * ir::math(MathFn::Sigmoid, {x}); }
Expr mish(const Expr& x) { return x * tanh(softplus(x)); }
Expr hard_swish(const Expr& x) {
  return x * ir::max(ir::min(x * real(x, 1.0 / 6) + real(x, 0.5), real(x, 1)), zero(x));
}

Types infer_floats(const OpCall& call) { return infer_alike<TypeSet::Floats>(call); }

// A function of one value with parameters.
template <Expr (*function)(const OpCall&, const Expr&)>
Expr with_parameters(const OpCall& call, const Values& values) {
  return ir::cast(values[0].type(), function(call, widened(values[0])));
}

Expr leaky_relu(const OpCall& call, const Expr& x) {
  return ir::select(x < zero(x), x * real(x, call.real("alpha")), x);
}
Expr elu(const OpCall& call, const Expr& x) {
  return ir::select(x < zero(x), (exp(x) - real(x, 1)) * real(x, call.real("alpha")), x);
}
// max(0, x) + min(0, alpha (e^(x / alpha) - 1)).
Expr celu(const OpCall& call, const Expr& x) {
  const double alpha = call.real("alpha");
  const Expr negative = (exp(x * real(x, 1 / alpha)) - real(x, 1)) * real(x, alpha);
  return ir::select(x < zero(x), negative, x);
}
Expr selu(const OpCall& call, const Expr& x) {
  const double alpha = call.real("alpha"), gamma = call.real("gamma");
  const Expr negative = exp(x) * real(x, alpha) - real(x, alpha);
  return ir::select(x > zero(x), x, negative) * real(x, gamma);
}
Expr hard_sigmoid(const OpCall& call, const Expr& x) {
  const Expr line = x * real(x, call.real("alpha")) + real(x, call.real("beta"));
  return ir::max(ir::min(line, real(x, 1)), zero(x));
}
Expr thresholded_relu(const OpCall& call, const Expr& x) {
  return ir::select(x > real(x, call.real("alpha")), x, zero(x));
}
// approximate: "none", x / 2 (1 + erf(x / sqrt 2)), or "tanh".
Expr gelu(const OpCall& call, const Expr& x) {
  Expr bell = ir::math(MathFn::Erf, {x * real(x, 0.70710678118654752440)});
  if (call.word("approximate") == "tanh") {
    const Expr cube = x * x * x * real(x, 0.044715);
    bell = tanh((x + cube) * real(x, 0.79788456080286535588));
  }
  return x * real(x, 0.5) * (real(x, 1) + bell);
}
Expr swish(const OpCall& call, const Expr& x) {
  return x * ir::math(MathFn::Sigmoid, {x * real(x, call.real("alpha"))});
}

// Numbers of any kind: integers are computed in f64.
Expr shrink_value(const OpCall& call, const Values& values) {
  const ir::DType type = values[0].type();
  const Expr x = type.is_float() ? widened(values[0]) : ir::cast(ir::kF64, values[0]);
  const Expr lambd = real(x, call.real("lambd")), bias = real(x, call.real("bias"));
  const Expr below = ir::select(x < ir::math(MathFn::Neg, {lambd}), x + bias, zero(x));
  return ir::cast(type, ir::select(x > lambd, x - bias, below));
}

Expr relu_value(const OpCall& /*call*/, const Values& values) {
  return ir::cast(values[0].type(), relu(widened(values[0])));
}

Expr prelu_value(const OpCall& /*call*/, const Values& values) {
  const Expr x = widened(values[0]);
  return ir::cast(values[0].type(), ir::select(x < zero(x), x * widened(values[1]), x));
}

// Zeros stay zeros; and, in the others, results are finite and no larger than operands by much.
constexpr OpTraits kKeepsZeros{.zeros = Zeros::First};
constexpr OpTraits kKeepsZerosNarrow{.zeros = Zeros::First, .narrow = true};
constexpr OpTraits kTame{.zeros = Zeros::First, .finite = true, .narrow = true};
constexpr OpTraits kTameLink{.zeros = Zeros::First, .finite = true, .narrow = true, .operands = 1};

std::vector<OpDef> functions() {
  return {
      elementwise("floor", infer_floats, of_math<MathFn::Floor>, {.zeros = Zeros::Sharpened}),
      elementwise("ceil", infer_floats, of_math<MathFn::Ceil>, {.zeros = Zeros::Sharpened}),
      elementwise("round", infer_floats, of_math<MathFn::Round>, kKeepsZeros),  // half to even
      elementwise("sqrt", infer_floats, of_math<MathFn::Sqrt>,
                  {.zeros = Zeros::Root, .operands = 1}),
      elementwise("exp", infer_floats, of_math<MathFn::Exp>,
                  {.never_negative = true, .operands = 1}),
      elementwise("log", infer_floats, of_math<MathFn::Log>,
                  {.zeros = Zeros::Sharpened, .operands = 1}),
      elementwise("erf", infer_floats, of_math<MathFn::Erf>,
                  {.zeros = Zeros::First, .operands = 1}),
      elementwise("sin", infer_floats, of_math<MathFn::Sin>, kKeepsZeros),
      elementwise("cos", infer_floats, of_math<MathFn::Cos>),
      elementwise("tan", infer_floats, of_math<MathFn::Tan>, kKeepsZeros),
      elementwise("asin", infer_floats, of_math<MathFn::Asin>, kKeepsZeros),
      elementwise("acos", infer_floats, of_math<MathFn::Acos>),
      elementwise("atan", infer_floats, of_math<MathFn::Atan>, kKeepsZeros),
      elementwise("sinh", infer_floats, of_math<MathFn::Sinh>, kKeepsZeros),
      elementwise("cosh", infer_floats, of_math<MathFn::Cosh>),
      elementwise("tanh", infer_floats, of_math<MathFn::Tanh>, kTameLink),
      elementwise("asinh", infer_floats, of_math<MathFn::Asinh>, kKeepsZeros),
      elementwise("acosh", infer_floats, of_math<MathFn::Acosh>),
      elementwise("atanh", infer_floats, of_math<MathFn::Atanh>, kKeepsZeros),
  };
}

std::vector<OpDef> activations() {
  constexpr auto numbers = infer_alike<TypeSet::Numbers>;
  return {
      elementwise("relu", numbers, relu_value,
                  {.zeros = Zeros::First,
                   .finite = true,
                   .never_negative = true,
                   .narrow = true,
                   .operands = 1}),
      elementwise("prelu", numbers, prelu_value,
                  {.zeros = Zeros::First, .finite = true, .narrow = true, .host = "PRelu"}),
      elementwise("shrink", numbers, shrink_value, kKeepsZeros),  // lambd, bias
      elementwise("sigmoid", infer_floats, of_math<MathFn::Sigmoid>,
                  {.finite = true, .never_negative = true, .narrow = true, .operands = 1}),
      elementwise("softplus", infer_floats, of_one<softplus>,
                  {.never_negative = true, .narrow = true}),
      elementwise("softsign", infer_floats, of_one<softsign>, kKeepsZerosNarrow),
      elementwise("silu", infer_floats, of_one<silu>, kTameLink),
      elementwise("mish", infer_floats, of_one<mish>, kKeepsZerosNarrow),
      elementwise("hard_swish", infer_floats, of_one<hard_swish>, kTameLink),
      elementwise("leaky_relu", infer_floats, with_parameters<leaky_relu>, kTame),  // alpha
      elementwise("elu", infer_floats, with_parameters<elu>, kTame),                // alpha
      elementwise("celu", infer_floats, with_parameters<celu>, kKeepsZerosNarrow),  // alpha
      elementwise("selu", infer_floats, with_parameters<selu>, kKeepsZerosNarrow),  // alpha, gamma
      elementwise("hard_sigmoid", infer_floats, with_parameters<hard_sigmoid>,
                  {.finite = true, .never_negative = true, .narrow = true}),  // alpha, beta
      elementwise("thresholded_relu", infer_floats, with_parameters<thresholded_relu>,
                  kKeepsZerosNarrow),                                                 // alpha
      elementwise("gelu", infer_floats, with_parameters<gelu>, kTame),                // approximate
      elementwise("swish", infer_floats, with_parameters<swish>, kKeepsZerosNarrow),  // alpha
  };
}

}  // namespace

std::vector<OpDef> activation_operators() {
  std::vector<OpDef> all = functions();
  for (const OpDef& def : activations()) all.push_back(def);
  return all;
}

}  // namespace attune::ops

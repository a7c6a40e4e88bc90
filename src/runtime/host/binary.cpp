// Elementwise operators of two or more inputs, broadcast against each other.
#include <cmath>
#include <limits>

#include "runtime/host/elementwise.h"
#include "runtime/host/list.h"

namespace attune::runtime::host {
namespace {

template <typename T, T (*fn)(T, T)>
void fold(T* const* blocks, std::size_t inputs, std::int64_t count, const double*) {
  for (std::size_t k = 1; k < inputs; ++k) {
    for (std::int64_t i = 0; i < count; ++i) blocks[0][i] = fn(blocks[0][i], blocks[k][i]);
  }
}

using Int = std::int64_t;
using Word = std::uint64_t;
Word word(Int x) { return static_cast<Word>(x); }
Int wrap(Word x) { return static_cast<Int>(x); }

double add(double a, double b) { return a + b; }
Int add(Int a, Int b) { return wrap(word(a) + word(b)); }
double sub(double a, double b) { return a - b; }
Int sub(Int a, Int b) { return wrap(word(a) - word(b)); }
double mul(double a, double b) { return a * b; }
Int mul(Int a, Int b) { return wrap(word(a) * word(b)); }
double divide(double a, double b) { return a / b; }
// Divisors are not 0: that is checked before.
Int divide(Int a, Int b) { return b == -1 ? wrap(0 - word(a)) : a / b; }
Int divide_words(Int a, Int b) { return wrap(word(a) / word(b)); }
double least(double a, double b) { return std::isnan(a) || a < b ? a : b; }
Int least(Int a, Int b) { return a < b ? a : b; }
Int least_words(Int a, Int b) { return word(a) < word(b) ? a : b; }
double greatest(double a, double b) { return std::isnan(a) || a > b ? a : b; }
Int greatest(Int a, Int b) { return a > b ? a : b; }
Int greatest_words(Int a, Int b) { return word(a) > word(b) ? a : b; }
double power(double a, double b) { return std::pow(a, b); }
Int power(Int base, Int exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  Word result = 1;
  for (Word factor = word(base); exponent > 0; exponent >>= 1, factor *= factor) {
    if ((exponent & 1) != 0) result *= factor;
  }
  return wrap(result);
}
// The sign of the divisor.
double floor_mod(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}
Int floor_mod(Int a, Int b) {
  if (b == -1) return 0;
  const Int rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
Int mod_words(Int a, Int b) { return wrap(word(a) % word(b)); }
double c_mod(double a, double b) { return std::fmod(a, b); }
Int c_mod(Int a, Int b) { return b == -1 ? 0 : a % b; }

template <typename T>
T equal(T a, T b) {
  return a == b;
}
template <typename T>
T less(T a, T b) {
  return a < b;
}
template <typename T>
T less_or_equal(T a, T b) {
  return a <= b;
}
template <typename T>
T greater(T a, T b) {
  return a > b;
}
template <typename T>
T greater_or_equal(T a, T b) {
  return a >= b;
}
Int less_words(Int a, Int b) { return word(a) < word(b); }
Int less_or_equal_words(Int a, Int b) { return word(a) <= word(b); }
Int greater_words(Int a, Int b) { return word(a) > word(b); }
Int greater_or_equal_words(Int a, Int b) { return word(a) >= word(b); }

Int logical_and(Int a, Int b) { return a != 0 && b != 0; }
Int logical_or(Int a, Int b) { return a != 0 || b != 0; }
Int logical_xor(Int a, Int b) { return (a != 0) != (b != 0); }
Int bit_and(Int a, Int b) { return a & b; }
Int bit_or(Int a, Int b) { return a | b; }
Int bit_xor(Int a, Int b) { return a ^ b; }
Int shift_left(Int a, Int b) { return b < 0 || b > 63 ? 0 : wrap(word(a) << b); }
// What is shifted in is the sign.
Int shift_right(Int a, Int b) { return a >> (b < 0 || b > 63 ? 63 : b); }
Int shift_words_right(Int a, Int b) { return b < 0 || b > 63 ? 0 : wrap(word(a) >> b); }
double leaky(double x, double slope) { return x < 0 ? x * slope : x; }
Int leaky(Int x, Int slope) { return x < 0 ? mul(x, slope) : x; }

void mean_block(double* const* blocks, std::size_t inputs, Int count, const double*) {
  fold<double, add>(blocks, inputs, count, nullptr);
  for (Int i = 0; i < count; ++i) blocks[0][i] /= static_cast<double>(inputs);
}

struct Binary {
  std::string_view name;
  Elementwise function;
  bool any_number = false;  // of inputs, one or more
};

constexpr Binary kBinary[] = {
    {"Add", {fold<double, add>, fold<Int, add>}},
    {"Sum", {fold<double, add>, fold<Int, add>}, true},
    {"Sub", {fold<double, sub>, fold<Int, sub>}},
    {"Mul", {fold<double, mul>, fold<Int, mul>}},
    {"Div", {fold<double, divide>, fold<Int, divide>, fold<Int, divide_words>}},
    {"Min", {fold<double, least>, fold<Int, least>, fold<Int, least_words>}, true},
    {"Max", {fold<double, greatest>, fold<Int, greatest>, fold<Int, greatest_words>}, true},
    {"Mean", {mean_block}, true},
    {"Pow", {fold<double, power>, fold<Int, power>}},
    {"Equal", {fold<double, equal>, fold<Int, equal>}},
    {"Less", {fold<double, less>, fold<Int, less>, fold<Int, less_words>}},
    {"LessOrEqual",
     {fold<double, less_or_equal>, fold<Int, less_or_equal>, fold<Int, less_or_equal_words>}},
    {"Greater", {fold<double, greater>, fold<Int, greater>, fold<Int, greater_words>}},
    {"GreaterOrEqual",
     {fold<double, greater_or_equal>, fold<Int, greater_or_equal>,
      fold<Int, greater_or_equal_words>}},
    {"And", {nullptr, fold<Int, logical_and>}},
    {"Or", {nullptr, fold<Int, logical_or>}},
    {"Xor", {nullptr, fold<Int, logical_xor>}},
    {"BitwiseAnd", {nullptr, fold<Int, bit_and>}},
    {"BitwiseOr", {nullptr, fold<Int, bit_or>}},
    {"BitwiseXor", {nullptr, fold<Int, bit_xor>}},
    {"PRelu", {fold<double, leaky>, fold<Int, leaky>}},
};

// Division by zero has no answer among integers.
Status check_divisor(const Call& call) {
  if (!call.has_input(1)) return call.bad("input 1 is missing");
  for (const HostTensor& input : call.inputs) {
    if (domain_of(input.type) == Domain::Real) return {};
  }
  const HostTensor& divisor = call.inputs[1];
  for (Int i = 0; i < divisor.shape.elements(); ++i) {
    if (integer_at(divisor, i) == 0) return call.bad("division by zero");
  }
  return {};
}

}  // namespace

Status binary(const Call& call) {
  if (call.op == "Div") ATTUNE_RETURN_IF_ERROR(check_divisor(call));
  for (const Binary& known : kBinary) {
    if (known.name == call.op) {
      const std::size_t most = known.any_number ? call.inputs.size() : 2;
      ATTUNE_RETURN_IF_ERROR(call.takes(known.any_number ? 1 : 2, most));
      return run_elementwise(call, known.function);
    }
  }
  return call.bad("it is not known");
}

Status mod(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(2, 2));
  ATTUNE_RETURN_IF_ERROR(check_divisor(call));
  const bool c_like = call.integer("fmod", 0) != 0;
  return run_elementwise(
      call, c_like
                ? Elementwise{fold<double, c_mod>, fold<Int, c_mod>, fold<Int, mod_words>}
                : Elementwise{fold<double, floor_mod>, fold<Int, floor_mod>, fold<Int, mod_words>});
}

Status bit_shift(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(2, 2));
  const bool left = call.text("direction", "LEFT") == "LEFT";
  return run_elementwise(
      call, left ? Elementwise{nullptr, fold<Int, shift_left>}
                 : Elementwise{nullptr, fold<Int, shift_right>, fold<Int, shift_words_right>});
}

// The bounds are inputs or, in old models, attributes.
Status clip(const Call& call) {
  ATTUNE_RETURN_IF_ERROR(call.takes(1, 3));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const HostTensor& input = call.inputs[0];
  if (!call.has_output(0)) return {};
  ATTUNE_RETURN_IF_ERROR(call.shape_output(0, input.type, input.shape));
  for (std::size_t i = 1; i < 3; ++i) {
    if (call.has_input(i) && call.inputs[i].shape.elements() != 1) {
      return call.bad("a bound is not one number");
    }
  }
  const Int elements = input.shape.elements();
  if (domain_of(input.type) == Domain::Real) {
    const double low =
        call.has_input(1) ? real_at(call.inputs[1], 0) : call.real("min", -kInfinity);
    const double high =
        call.has_input(2) ? real_at(call.inputs[2], 0) : call.real("max", kInfinity);
    for (Int i = 0; i < elements; ++i) {
      const double value = least(greatest(real_at(input, i), low), high);
      store_reals(call.outputs[0], i, &value, 1);
    }
    return {};
  }
  const bool words = input.type == DType::U64;
  for (Int i = 0; i < elements; ++i) {
    Int value = integer_at(input, i);
    if (call.has_input(1)) {
      const Int low = integer_at(call.inputs[1], 0);
      value = words ? greatest_words(value, low) : greatest(value, low);
    }
    if (call.has_input(2)) {
      const Int high = integer_at(call.inputs[2], 0);
      value = words ? least_words(value, high) : least(value, high);
    }
    store_integers(call.outputs[0], i, &value, 1);
  }
  return {};
}

}  // namespace attune::runtime::host

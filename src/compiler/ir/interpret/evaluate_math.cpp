// The arithmetic of the interpreter, one function per operation and class of types.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "compiler/ir/interpret/evaluate.h"
#include "compiler/ir/simplify/interval.h"
#include "compiler/ir/text/print.h"

namespace attune::ir {
namespace {

// Index arithmetic is the common case and needs no wrapping; f16 and bf16 compute like f32.
enum class Class { Index, Narrow, Unsigned, Single, Double };

Class class_of(DType type) {
  if (type == kU64) return Class::Unsigned;
  if (!type.is_float()) return type.bits == 64 ? Class::Index : Class::Narrow;
  return type.bits == 64 ? Class::Double : Class::Single;
}

std::int64_t shift_left(std::int64_t a, std::int64_t b) {
  if (b < 0 || b > 63) return 0;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
}

std::int64_t shift_right(std::int64_t a, std::int64_t b) {
  if (b < 0 || b > 63) return a < 0 ? -1 : 0;
  return a >> b;
}

template <BinOp op, typename T>
bool compare_values(T a, T b) {
  if constexpr (op == BinOp::Eq) return a == b;
  if constexpr (op == BinOp::Ne) return a != b;
  if constexpr (op == BinOp::Lt) return a < b;
  if constexpr (op == BinOp::Le) return a <= b;
  if constexpr (op == BinOp::Gt) return a > b;
  return a >= b;
}

template <BinOp op>
std::int64_t int_result(std::int64_t a, std::int64_t b) {
  if constexpr (op == BinOp::Add) return wrap_add(a, b);
  if constexpr (op == BinOp::Sub) return wrap_sub(a, b);
  if constexpr (op == BinOp::Mul) return wrap_mul(a, b);
  if constexpr (op == BinOp::Div) return floor_div(a, b);
  if constexpr (op == BinOp::Mod) return floor_mod(a, b);
  if constexpr (op == BinOp::Min) return a < b ? a : b;
  if constexpr (op == BinOp::Max) return a > b ? a : b;
  if constexpr (op == BinOp::And || op == BinOp::BitAnd) return a & b;
  if constexpr (op == BinOp::Or || op == BinOp::BitOr) return a | b;
  if constexpr (op == BinOp::BitXor) return a ^ b;
  if constexpr (op == BinOp::Shl) return shift_left(a, b);
  return shift_right(a, b);
}

// Those operations of u64 that are not the same as of i64; nothing for the others.
template <BinOp op>
std::optional<std::int64_t> unsigned_result(std::int64_t left, std::int64_t right) {
  const auto a = static_cast<std::uint64_t>(left), b = static_cast<std::uint64_t>(right);
  if constexpr (op == BinOp::Div) return static_cast<std::int64_t>(a / b);
  if constexpr (op == BinOp::Mod) return static_cast<std::int64_t>(a % b);
  if constexpr (op == BinOp::Min) return static_cast<std::int64_t>(a < b ? a : b);
  if constexpr (op == BinOp::Max) return static_cast<std::int64_t>(a > b ? a : b);
  if constexpr (op == BinOp::Shr) return static_cast<std::int64_t>(b > 63 ? 0 : a >> b);
  return std::nullopt;
}

// Operations of f32 are exact enough in f64 that rounding once more gives the f32 result.
template <BinOp op>
double real_result(double a, double b) {
  if constexpr (op == BinOp::Add) return a + b;
  if constexpr (op == BinOp::Sub) return a - b;
  if constexpr (op == BinOp::Mul) return a * b;
  if constexpr (op == BinOp::Div) return a / b;
  if constexpr (op == BinOp::Mod) return a - std::floor(a / b) * b;
  if constexpr (op == BinOp::Min) return a < b ? a : b;
  return a > b ? a : b;
}

template <BinOp op, Class kind>
Value run_binary(const Node& n, Frame& frame, int lane) {
  const Value a = n.a->run(frame, lane), b = n.b->run(frame, lane);
  Value result;
  constexpr bool real = kind == Class::Single || kind == Class::Double;
  if constexpr (op >= BinOp::Eq && op <= BinOp::Ge) {
    if constexpr (real) {
      result.i = compare_values<op>(a.f, b.f);
    } else if constexpr (kind == Class::Unsigned) {
      result.i =
          compare_values<op>(static_cast<std::uint64_t>(a.i), static_cast<std::uint64_t>(b.i));
    } else {
      result.i = compare_values<op>(a.i, b.i);
    }
  } else if constexpr (real) {
    result.f = real_result<op>(a.f, b.f);
    if constexpr (kind == Class::Single) result.f = static_cast<float>(result.f);
  } else {
    if constexpr (op == BinOp::Div || op == BinOp::Mod) {
      if (b.i == 0) {
        if (frame.failed()) return {};
        const Expr source(std::shared_ptr<const ExprNode>(std::shared_ptr<void>(), n.source));
        return frame.fail(fmt::format("division by zero in '{}'", to_string(source)));
      }
    }
    if constexpr (kind == Class::Unsigned) {
      if (const auto own = unsigned_result<op>(a.i, b.i)) {
        result.i = *own;
        return result;
      }
    }
    result.i = int_result<op>(a.i, b.i);
    if constexpr (kind == Class::Narrow) result.i = wrap_to(n.type, result.i);
  }
  return result;
}

constexpr std::size_t kOpCount = static_cast<std::size_t>(BinOp::Shr) + 1;
using Table = std::array<Node::Function, kOpCount>;

template <Class kind, std::size_t... ops>
constexpr Table make_table(std::index_sequence<ops...>) {
  return {run_binary<static_cast<BinOp>(ops), kind>...};
}

Value run_real(const Node& n, Frame& frame, int lane) {
  Value result;
  result.f = n.real(n.a->run(frame, lane).f);
  if (n.operand.bits < 64) result.f = static_cast<float>(result.f);
  return result;
}

template <MathFn fn>
Value run_int(const Node& n, Frame& frame, int lane) {
  const std::int64_t a = n.a->run(frame, lane).i;
  Value result;
  if constexpr (fn == MathFn::Neg) result.i = wrap_to(n.type, wrap_sub(0, a));
  if constexpr (fn == MathFn::Not) result.i = a == 0;
  if constexpr (fn == MathFn::BitNot) result.i = wrap_to(n.type, ~a);
  if constexpr (fn == MathFn::Abs) result.i = wrap_to(n.type, a < 0 ? wrap_sub(0, a) : a);
  if constexpr (fn == MathFn::Sign) result.i = (a > 0) - (a < 0);
  if constexpr (fn == MathFn::Abs || fn == MathFn::Sign) {
    if (n.type == kU64) result.i = fn == MathFn::Abs ? a : a != 0;
  }
  return result;
}

Value run_pow(const Node& n, Frame& frame, int lane) {
  Value result;
  result.f = std::pow(n.a->run(frame, lane).f, n.b->run(frame, lane).f);
  if (n.operand.bits < 64) result.f = static_cast<float>(result.f);
  return result;
}

Value run_fma(const Node& n, Frame& frame, int lane) {
  const double a = n.a->run(frame, lane).f, b = n.b->run(frame, lane).f;
  const double c = n.c->run(frame, lane).f;
  Value result;
  if (n.operand.bits == 64) {
    result.f = std::fma(a, b, c);
  } else {
    result.f = std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
  }
  return result;
}

Value run_is_nan(const Node& n, Frame& frame, int lane) {
  Value result;
  result.i = std::isnan(n.a->run(frame, lane).f);
  return result;
}

Value run_is_inf(const Node& n, Frame& frame, int lane) {
  Value result;
  result.i = std::isinf(n.a->run(frame, lane).f);
  return result;
}

std::uint64_t bits_of(Value value, DType type) {
  if (!type.is_float()) return static_cast<std::uint64_t>(value.i);
  if (type == kF64) return std::bit_cast<std::uint64_t>(value.f);
  if (type == kF32) return std::bit_cast<std::uint32_t>(static_cast<float>(value.f));
  return type == kF16 ? f16_bits(value.f) : bf16_bits(value.f);
}

Value run_bitcast(const Node& n, Frame& frame, int lane) {
  const std::uint64_t bits = bits_of(n.a->run(frame, lane), n.operand);
  Value result;
  if (!n.type.is_float()) {
    result.i = wrap_to(n.type, static_cast<std::int64_t>(bits));
  } else if (n.type == kF64) {
    result.f = std::bit_cast<double>(bits);
  } else if (n.type == kF32) {
    result.f = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else {
    const auto low = static_cast<std::uint16_t>(bits);
    result.f = n.type == kF16 ? f16_value(low) : bf16_value(low);
  }
  return result;
}

}  // namespace

Node::Function binary_function(BinOp op, DType operand) {
  constexpr auto ops = std::make_index_sequence<kOpCount>();
  static constexpr Table tables[] = {make_table<Class::Index>(ops), make_table<Class::Narrow>(ops),
                                     make_table<Class::Unsigned>(ops),
                                     make_table<Class::Single>(ops),
                                     make_table<Class::Double>(ops)};
  return tables[static_cast<std::size_t>(class_of(operand))][static_cast<std::size_t>(op)];
}

double (*real_function(MathFn fn))(double) {
  switch (fn) {
    case MathFn::Neg:
      return [](double x) { return -x; };
    case MathFn::Abs:
      return [](double x) { return std::abs(x); };
    case MathFn::Sign:
      return [](double x) { return std::isnan(x) ? x : double((x > 0) - (x < 0)); };
    case MathFn::Floor:
      return [](double x) { return std::floor(x); };
    case MathFn::Ceil:
      return [](double x) { return std::ceil(x); };
    case MathFn::Round:
      return [](double x) { return std::nearbyint(x); };
    case MathFn::Trunc:
      return [](double x) { return std::trunc(x); };
    case MathFn::Sqrt:
      return [](double x) { return std::sqrt(x); };
    case MathFn::Rsqrt:
      return [](double x) { return 1.0 / std::sqrt(x); };
    case MathFn::Exp:
      return [](double x) { return std::exp(x); };
    case MathFn::Log:
      return [](double x) { return std::log(x); };
    case MathFn::Sin:
      return [](double x) { return std::sin(x); };
    case MathFn::Cos:
      return [](double x) { return std::cos(x); };
    case MathFn::Tan:
      return [](double x) { return std::tan(x); };
    case MathFn::Asin:
      return [](double x) { return std::asin(x); };
    case MathFn::Acos:
      return [](double x) { return std::acos(x); };
    case MathFn::Atan:
      return [](double x) { return std::atan(x); };
    case MathFn::Sinh:
      return [](double x) { return std::sinh(x); };
    case MathFn::Cosh:
      return [](double x) { return std::cosh(x); };
    case MathFn::Tanh:
      return [](double x) { return std::tanh(x); };
    case MathFn::Asinh:
      return [](double x) { return std::asinh(x); };
    case MathFn::Acosh:
      return [](double x) { return std::acosh(x); };
    case MathFn::Atanh:
      return [](double x) { return std::atanh(x); };
    case MathFn::Erf:
      return [](double x) { return std::erf(x); };
    case MathFn::Sigmoid:
      return [](double x) { return 1.0 / (1.0 + std::exp(-x)); };
    default:
      return nullptr;
  }
}

Node::Function math_function(MathFn fn, DType operand) {
  if (fn == MathFn::Bitcast) return run_bitcast;
  if (operand.is_float()) {
    if (fn == MathFn::Pow) return run_pow;
    if (fn == MathFn::Fma) return run_fma;
    if (fn == MathFn::IsNan) return run_is_nan;
    if (fn == MathFn::IsInf) return run_is_inf;
    return real_function(fn) ? run_real : nullptr;
  }
  switch (fn) {
    case MathFn::Neg:
      return run_int<MathFn::Neg>;
    case MathFn::Not:
      return operand.is_bool() ? run_int<MathFn::Not> : nullptr;
    case MathFn::BitNot:
      return run_int<MathFn::BitNot>;
    case MathFn::Abs:
      return run_int<MathFn::Abs>;
    case MathFn::Sign:
      return run_int<MathFn::Sign>;
    default:
      return nullptr;
  }
}

}  // namespace attune::ir

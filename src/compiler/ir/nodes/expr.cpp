#include "compiler/ir/nodes/expr.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/match.h"
#include "compiler/ir/simplify/interval.h"

namespace attune::ir {
namespace {

template <typename Kind>
Expr make(DType type, Kind kind) {
  return Expr(std::make_shared<const ExprNode>(ExprNode{type, std::move(kind)}));
}

std::optional<std::int64_t> fold(BinOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case BinOp::Add:
      return wrap_add(a, b);
    case BinOp::Sub:
      return wrap_sub(a, b);
    case BinOp::Mul:
      return wrap_mul(a, b);
    case BinOp::Div:
      return b == 0 ? std::nullopt : std::optional(floor_div(a, b));
    case BinOp::Mod:
      return b == 0 ? std::nullopt : std::optional(floor_mod(a, b));
    case BinOp::Min:
      return std::min(a, b);
    case BinOp::Max:
      return std::max(a, b);
    case BinOp::Eq:
      return a == b;
    case BinOp::Ne:
      return a != b;
    case BinOp::Lt:
      return a < b;
    case BinOp::Le:
      return a <= b;
    case BinOp::Gt:
      return a > b;
    case BinOp::Ge:
      return a >= b;
    default:
      return std::nullopt;
  }
}

bool all_equal(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal);
}

}  // namespace

Expr::Expr(std::int64_t index) : Expr(int_imm(index)) {}

Buffer make_buffer(std::string name, DType type, std::vector<std::int64_t> shape, Scope scope) {
  return std::make_shared<const BufferNode>(
      BufferNode{std::move(name), type, std::move(shape), scope});
}

std::int64_t element_count(const BufferNode& buffer) {
  std::int64_t count = 1;
  for (std::int64_t extent : buffer.shape) count *= extent;
  return count;
}

Expr int_imm(std::int64_t value, DType type) {
  CHECK(!type.is_float() && type.is_scalar(), "an integer constant needs a scalar integer type");
  return make(type, IntImm{value});
}

Expr float_imm(double value, DType type) {
  CHECK(type.is_float() && type.is_scalar(), "a float constant needs a scalar float type");
  return make(type, FloatImm{value});
}

Expr bool_imm(bool value) { return int_imm(value ? 1 : 0, kBool); }

Expr zero_of(DType type) {
  const DType element = type.element();
  Expr zero = element.is_float() ? float_imm(0.0, element) : int_imm(0, element);
  return type.is_scalar() ? zero : broadcast(zero, type.lanes);
}

Expr var(std::string name, DType type) { return make(type, Var{std::move(name)}); }

Expr binary(BinOp op, Expr lhs, Expr rhs) {
  CHECK(bool(lhs) && bool(rhs), "a binary operator needs two operands");
  if (lhs.type().lanes != rhs.type().lanes) {
    if (lhs.type().is_scalar())
      lhs = broadcast(lhs, rhs.type().lanes);
    else if (rhs.type().is_scalar())
      rhs = broadcast(rhs, lhs.type().lanes);
  }
  CHECK(lhs.type() == rhs.type(),
        "operands of different types: " + to_string(lhs.type()) + " and " + to_string(rhs.type()));
  const DType type = is_comparison(op) ? kBool.with_lanes(lhs.type().lanes) : lhs.type();
  if (lhs.type() == kIndex) {
    const auto* a = as_int(lhs);
    const auto* b = as_int(rhs);
    if (a && b) {
      if (auto value = fold(op, *a, *b)) return int_imm(*value, type);
    }
  }
  return make(type, Binary{op, std::move(lhs), std::move(rhs)});
}

Expr math(MathFn fn, std::vector<Expr> args) {
  CHECK(!args.empty(), "a math function needs an argument");
  CHECK(fn != MathFn::Bitcast, "bitcast names its type: use bitcast()");
  DType type = args[0].type();
  if (fn == MathFn::IsNan || fn == MathFn::IsInf) type = kBool.with_lanes(type.lanes);
  return make(type, Math{fn, std::move(args)});
}

Expr bitcast(DType type, Expr value) {
  CHECK(type.bits == value.type().bits && type.lanes == value.type().lanes,
        "a bitcast keeps the number of bits");
  return make(type, Math{MathFn::Bitcast, {std::move(value)}});
}

Expr select(Expr condition, Expr if_true, Expr if_false) {
  CHECK(condition.type().is_bool(), "the condition of a select is a bool");
  CHECK(if_true.type() == if_false.type(), "the sides of a select differ in type");
  const DType type = if_true.type();
  return make(type, Select{std::move(condition), std::move(if_true), std::move(if_false)});
}

Expr cast(DType type, Expr value) {
  CHECK(type.lanes == value.type().lanes, "a cast keeps the lanes");
  if (type == value.type()) return value;
  return make(type, Cast{std::move(value)});
}

Expr load(Buffer buffer, std::vector<Expr> index) {
  CHECK(buffer && index.size() == buffer->shape.size(), "a load needs one index per dimension");
  int lanes = 1;
  for (const Expr& i : index) lanes = std::max<int>(lanes, i.type().lanes);
  const DType type = buffer->type.with_lanes(lanes);
  return make(type, Load{std::move(buffer), std::move(index)});
}

Expr ramp(Expr base, Expr stride, int lanes) {
  CHECK(base.type() == stride.type() && base.type().is_scalar() && lanes > 1,
        "a ramp needs scalar base and stride of one type and two lanes or more");
  const DType type = base.type().with_lanes(lanes);
  return make(type, Ramp{std::move(base), std::move(stride)});
}

Expr broadcast(Expr value, int lanes) {
  CHECK(value.type().is_scalar(), "only a scalar can be broadcast");
  if (lanes == 1) return value;
  const DType type = value.type().with_lanes(lanes);
  return make(type, Broadcast{std::move(value)});
}

Expr vector_reduce(BinOp op, Expr value) {
  const DType type = value.type().element();
  return make(type, VectorReduce{op, std::move(value)});
}

Expr opaque(std::string name, DType type, std::vector<Expr> args) {
  return make(type, Opaque{std::move(name), std::move(args)});
}

const std::int64_t* as_int(const Expr& e) {
  const auto* imm = as<IntImm>(e);
  return imm ? &imm->value : nullptr;
}

bool is_const_int(const Expr& e, std::int64_t value) {
  const auto* imm = as_int(e);
  return imm && *imm == value;
}

bool is_comparison(BinOp op) { return op >= BinOp::Eq && op <= BinOp::Ge; }

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (b == -1) return wrap_sub(0, a);  // the machine's division traps on the least integer
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  return wrap_sub(a, wrap_mul(floor_div(a, b), b));
}

bool equal(const Expr& a, const Expr& b) {
  if (a.same(b)) return true;
  if (!a || !b || a.type() != b.type() || a->kind.index() != b->kind.index()) return false;
  return std::visit(Match{
                        [&](const IntImm& x) { return x.value == as<IntImm>(b)->value; },
                        [&](const FloatImm& x) {
                          // By bits: 0 and -0 differ, a NaN equals itself.
                          return std::bit_cast<std::uint64_t>(x.value) ==
                                 std::bit_cast<std::uint64_t>(as<FloatImm>(b)->value);
                        },
                        [&](const Var& x) { return x.name == as<Var>(b)->name; },
                        [&](const Binary& x) {
                          const auto& y = *as<Binary>(b);
                          return x.op == y.op && equal(x.lhs, y.lhs) && equal(x.rhs, y.rhs);
                        },
                        [&](const Math& x) {
                          const auto& y = *as<Math>(b);
                          return x.fn == y.fn && all_equal(x.args, y.args);
                        },
                        [&](const Select& x) {
                          const auto& y = *as<Select>(b);
                          return equal(x.condition, y.condition) && equal(x.if_true, y.if_true) &&
                                 equal(x.if_false, y.if_false);
                        },
                        [&](const Cast& x) { return equal(x.value, as<Cast>(b)->value); },
                        [&](const Load& x) {
                          const auto& y = *as<Load>(b);
                          return x.buffer == y.buffer && all_equal(x.index, y.index);
                        },
                        [&](const Ramp& x) {
                          const auto& y = *as<Ramp>(b);
                          return equal(x.base, y.base) && equal(x.stride, y.stride);
                        },
                        [&](const Broadcast& x) { return equal(x.value, as<Broadcast>(b)->value); },
                        [&](const VectorReduce& x) {
                          const auto& y = *as<VectorReduce>(b);
                          return x.op == y.op && equal(x.value, y.value);
                        },
                        [&](const Opaque& x) {
                          const auto& y = *as<Opaque>(b);
                          return x.name == y.name && all_equal(x.args, y.args);
                        },
                    },
                    a->kind);
}

}  // namespace attune::ir

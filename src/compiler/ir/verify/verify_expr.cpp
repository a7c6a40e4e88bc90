#include "compiler/ir/verify/verify_expr.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/ir/nodes/array.h"
#include "compiler/ir/nodes/intrinsics.h"
#include "compiler/ir/text/print.h"

namespace attune::ir {
namespace {

bool is_arithmetic(BinOp op) { return op <= BinOp::Max; }
bool is_logic(BinOp op) { return op == BinOp::And || op == BinOp::Or; }
bool is_bitwise(BinOp op) { return op >= BinOp::BitAnd; }

// How many arguments a function takes, and of which types.
struct Signature {
  std::size_t arguments;
  bool floats, ints, bools;
};

Signature signature(MathFn fn) {
  switch (fn) {
    case MathFn::Not:
      return {1, false, false, true};
    case MathFn::BitNot:
      return {1, false, true, false};
    case MathFn::Neg:
    case MathFn::Abs:
    case MathFn::Sign:
      return {1, true, true, false};
    case MathFn::Bitcast:
      return {1, true, true, true};
    case MathFn::Pow:
      return {2, true, false, false};
    case MathFn::Fma:
      return {3, true, false, false};
    default:
      return {1, true, false, false};
  }
}

bool takes(const Signature& s, DType type) {
  return type.is_float() ? s.floats : (type.is_bool() ? s.bools : s.ints);
}

// What every node must satisfy; a rule holds for nodes it does not speak of.
struct Rule {
  const char* violated;
  bool (*holds)(const Expr& e);
};

constexpr Rule kRules[] = {
    {"a type that does not exist", [](const Expr& e) { return to_string(e.type()) != "unknown"; }},
    {"a constant outside of its type",
     [](const Expr& e) {
       const auto* x = as<IntImm>(e);
       return !x || (!e.type().is_float() && wrap_to(e.type(), x->value) == x->value);
     }},
    {"a float constant of another type",
     [](const Expr& e) { return !as<FloatImm>(e) || e.type().is_float(); }},
    {"a vector constant",
     [](const Expr& e) { return (!as<IntImm>(e) && !as<FloatImm>(e)) || e.type().is_scalar(); }},
    {"operands of different types",
     [](const Expr& e) {
       const auto* x = as<Binary>(e);
       return !x || x->lhs.type() == x->rhs.type();
     }},
    {"an operator that is not defined on its operands",
     [](const Expr& e) {
       const auto* x = as<Binary>(e);
       if (!x) return true;
       const DType type = x->lhs.type();
       if (is_arithmetic(x->op)) return !type.is_bool();
       if (is_logic(x->op)) return type.is_bool();
       return !is_bitwise(x->op) || type.is_int();
     }},
    {"an operator with the wrong type of result",
     [](const Expr& e) {
       const auto* x = as<Binary>(e);
       if (!x) return true;
       const DType type = x->lhs.type();
       return e.type() == (is_comparison(x->op) ? kBool.with_lanes(type.lanes) : type);
     }},
    {"a function that is not defined on its arguments",
     [](const Expr& e) {
       const auto* x = as<Math>(e);
       if (!x) return true;
       const Signature s = signature(x->fn);
       return x->args.size() == s.arguments &&
              std::all_of(x->args.begin(), x->args.end(), [&](const Expr& a) {
                return a.type() == x->args[0].type() && takes(s, a.type());
              });
     }},
    {"a function with the wrong type of result",
     [](const Expr& e) {
       const auto* x = as<Math>(e);
       if (!x) return true;
       const DType type = x->args[0].type();
       if (x->fn == MathFn::Bitcast) {
         return e.type().bits == type.bits && e.type().lanes == type.lanes;
       }
       const bool test = x->fn == MathFn::IsNan || x->fn == MathFn::IsInf;
       return e.type() == (test ? kBool.with_lanes(type.lanes) : type);
     }},
    {"a select whose condition is not a bool of its lanes",
     [](const Expr& e) {
       const auto* x = as<Select>(e);
       if (!x) return true;
       const DType type = x->condition.type();
       return type.is_bool() && (type.is_scalar() || type.lanes == e.type().lanes);
     }},
    {"a select whose sides differ in type",
     [](const Expr& e) {
       const auto* x = as<Select>(e);
       return !x || (x->if_true.type() == e.type() && x->if_false.type() == e.type());
     }},
    {"a cast that changes the number of lanes",
     [](const Expr& e) {
       const auto* x = as<Cast>(e);
       return !x || x->value.type().lanes == e.type().lanes;
     }},
    {"a load without one index per dimension",
     [](const Expr& e) {
       const auto* x = as<Load>(e);
       return !x || x->index.size() == x->buffer->shape.size();
     }},
    {"a load whose indices are not i64, scalars or of its lanes",
     [](const Expr& e) {
       const auto* x = as<Load>(e);
       return !x || std::all_of(x->index.begin(), x->index.end(), [&](const Expr& i) {
         const DType type = i.type();
         return type.element() == kIndex && (type.is_scalar() || type.lanes == e.type().lanes);
       });
     }},
    {"a load of another type than its buffer",
     [](const Expr& e) {
       const auto* x = as<Load>(e);
       return !x || x->buffer->type == e.type().element();
     }},
    {"a ramp whose base and stride are not scalars of its type",
     [](const Expr& e) {
       const auto* x = as<Ramp>(e);
       return !x || (e.type().lanes > 1 && x->base.type() == e.type().element() &&
                     x->stride.type() == e.type().element());
     }},
    {"a broadcast of something that is not a scalar of its type",
     [](const Expr& e) {
       const auto* x = as<Broadcast>(e);
       return !x || (e.type().lanes > 1 && x->value.type() == e.type().element());
     }},
    {"a reduction over lanes that is not add, mul, min or max of a vector",
     [](const Expr& e) {
       const auto* x = as<VectorReduce>(e);
       if (!x) return true;
       const bool known =
           x->op == BinOp::Add || x->op == BinOp::Mul || x->op == BinOp::Min || x->op == BinOp::Max;
       return known && x->value.type().lanes > 1 && x->value.type().element() == e.type();
     }},
    {"an intrinsic that is not declared",
     [](const Expr& e) {
       const auto* x = as<Opaque>(e);
       return !x || find_intrinsic(x->name) != nullptr;
     }},
    {"an intrinsic with the wrong number of arguments",
     [](const Expr& e) {
       const auto* x = as<Opaque>(e);
       if (!x) return true;
       const int count = find_intrinsic(x->name)->arg_count;
       return count < 0 || x->args.size() == static_cast<std::size_t>(count);
     }},
};

}  // namespace

std::string shown(const Expr& e) {
  constexpr std::size_t limit = 160;
  std::string text = to_string(e);
  if (text.size() > limit) text = text.substr(0, limit) + "…";
  return text;
}

Status verify_node(const Expr& e) {
  for (const Rule& rule : kRules) {
    if (!rule.holds(e)) return invalid(fmt::format("{}: '{}'", rule.violated, shown(e)));
  }
  return {};
}

Status verify_buffer(const BufferNode& buffer) {
  const auto text = [&] {
    return fmt::format("'{}: {}[{}]'", buffer.name, to_string(buffer.type),
                       fmt::join(buffer.shape, ", "));
  };
  if (buffer.name.empty()) return invalid(fmt::format("a buffer without a name: {}", text()));
  if (!buffer.type.is_scalar() || to_string(buffer.type) == "unknown") {
    return invalid(fmt::format("a buffer whose elements are not scalars: {}", text()));
  }
  std::int64_t bytes = buffer.type.element_bytes();
  for (const std::int64_t extent : buffer.shape) {
    if (extent <= 0) return invalid(fmt::format("a buffer with an empty dimension: {}", text()));
    if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      return invalid(fmt::format("a buffer larger than any memory: {}", text()));
    }
  }
  return {};
}

}  // namespace attune::ir

// Expressions of one element.
#include <fmt/format.h>

#include "base/check.h"
#include "base/match.h"
#include "compiler/codegen/c_text/operators.h"
#include "compiler/codegen/c_text/printer.h"
#include "compiler/ir/nodes/intrinsics.h"
#include "compiler/ir/text/names.h"

namespace attune::c_text {

using ir::BinOp;
using ir::MathFn;

std::string Printer::index(const Expr& e) {
  const bool before = std::exchange(in_index_, true);
  std::string text = scalar(e);
  in_index_ = before;
  return text;
}

std::string Printer::scalar(const Expr& e) {
  if (!is_shared(e) || !mask_.empty()) return scalar_node(e);
  const auto found = memo_.find(&*e);
  if (found != memo_.end()) return found->second;
  const std::string value = scalar_node(e);
  const std::string name = names_.fresh();
  text_.line(fmt::format("const {} {} = {};", type_of(e), name, value));
  memo_.emplace(&*e, name);
  return name;
}

std::string Printer::scalar_node(const Expr& e) {
  const DType type = e.type();
  return std::visit(Match{
                        [&](const ir::IntImm& x) { return int_literal(x.value, type); },
                        [&](const ir::FloatImm& x) { return float_literal(x.value, type); },
                        [&](const ir::Var& x) { return names_.of(x.name); },
                        [&](const ir::Binary&) { return scalar_binary(e); },
                        [&](const ir::Math& x) { return scalar_math(x, type); },
                        [&](const ir::Select&) { return scalar_select(e); },
                        [&](const ir::Cast& x) { return scalar_cast(x, type); },
                        [&](const ir::Load& x) { return load_scalar(x, type); },
                        [&](const ir::Ramp&) -> std::string { CHECK(false, "a ramp of one lane"); },
                        [&](const ir::Broadcast& x) { return scalar(x.value); },
                        [&](const ir::VectorReduce& x) { return scalar_reduce(x); },
                        [&](const ir::Opaque& x) -> std::string {
                          CHECK(x.name == ir::kWorker, "intrinsic '" + x.name + "' has no value");
                          return worker();
                        },
                    },
                    e->kind);
}

std::string Printer::type_of(const Expr& e) const {
  return is_narrow(e) ? value_type(ir::kI32) : value_type(e.type());
}

std::string Printer::scalar_binary(const Expr& e) {
  const auto& x = *ir::as<ir::Binary>(e);
  const DType type = x.lhs.type();
  const auto infix = [&](std::string_view op) {
    const std::string a = scalar(x.lhs);
    return fmt::format("({} {} {})", a, op, scalar(x.rhs));
  };
  if (ir::is_comparison(x.op)) return infix(ir::to_string(x.op));
  if (x.op == BinOp::And) return infix("&&");
  if (x.op == BinOp::Or) return infix("||");
  if (!type.is_float()) return scalar_int(e);
  if (x.op == BinOp::Min || x.op == BinOp::Max || x.op == BinOp::Mod) {
    const std::string a = scalar(x.lhs);
    return fmt::format("at_{}_{}({}, {})", function_of(x.op), value_tag(type), a, scalar(x.rhs));
  }
  return infix(ir::to_string(x.op));
}

std::string Printer::scalar_int(const Expr& e) {
  const auto& x = *ir::as<ir::Binary>(e);
  const DType type = x.lhs.type();
  if (x.op == BinOp::Div || x.op == BinOp::Mod) return scalar_division(e);
  const bool narrow = is_narrow(e);
  std::string a = scalar(x.lhs);
  const std::string b = scalar(x.rhs);
  const bool is_bitwise = x.op == BinOp::BitAnd || x.op == BinOp::BitOr || x.op == BinOp::BitXor;
  if (is_bitwise) {
    return fmt::format("(({})({} {} {}))", value_type(type), a, ir::to_string(x.op), b);
  }
  const bool plain = x.op == BinOp::Add || x.op == BinOp::Sub || x.op == BinOp::Mul;
  if (plain && type == ir::kIndex && (in_index_ || narrow)) {
    if (!narrow && is_narrow(x.lhs) && is_narrow(x.rhs)) a = fmt::format("((int64_t){})", a);
    return fmt::format("({} {} {})", a, ir::to_string(x.op), b);
  }
  return fmt::format("at_{}_{}({}, {})", function_of(x.op), value_tag(narrow ? ir::kI32 : type), a,
                     b);
}

// C's own operators where the numbers are known to be no trouble for them.
std::string Printer::scalar_division(const Expr& e) {
  const auto& x = *ir::as<ir::Binary>(e);
  const DType type = x.lhs.type();
  const std::string a = scalar(x.lhs), b = scalar(x.rhs);
  const std::int64_t* value = ir::as_int(x.rhs);
  const bool want_quotient = x.op == BinOp::Div;
  if (type == ir::kIndex && value && *value > 0) {
    const auto dividend = codegen::range_of(x.lhs, facts_);
    if (dividend && dividend->min >= 0) {
      return fmt::format("({} {} {})", a, want_quotient ? "/" : "%", b);
    }
    if ((*value & (*value - 1)) == 0) {
      const int shift = __builtin_ctzll(static_cast<unsigned long long>(*value));
      return want_quotient ? fmt::format("({} >> {})", a, shift)
                           : fmt::format("({} & {})", a, *value - 1);
    }
  }
  return fmt::format("at_{}_{}({}, {})", function_of(x.op), value_tag(type), a, b);
}

std::string Printer::scalar_math(const ir::Math& x, DType type) {
  const DType operand = x.args[0].type();
  if (x.fn == MathFn::Bitcast) {
    const Expr& value = x.args[0];
    const std::string bits =
        is_small_float(operand)
            ? fmt::format("at_{}_from_f32({})", ir::to_string(operand), scalar(value))
            : "";
    if (is_small_float(type)) {
      return fmt::format("at_f32_from_{}((uint16_t){})", ir::to_string(type),
                         bits.empty() ? scalar(value) : bits);
    }
    if (!bits.empty()) return fmt::format("(({}){})", value_type(type), bits);
    if (type.is_float() == operand.is_float()) {
      return fmt::format("(({}){})", value_type(type), scalar(value));
    }
    return fmt::format("at_bits_of_{}_{}({})", value_tag(type), value_tag(operand), scalar(value));
  }
  if (x.fn == MathFn::Not) return fmt::format("(!{})", scalar(x.args[0]));
  if (x.fn == MathFn::IsNan || x.fn == MathFn::IsInf) {
    const std::string value = scalar(x.args[0]);
    if (!operand.is_float()) return "0";
    return fmt::format("({}({}) != 0)", x.fn == MathFn::IsNan ? "isnan" : "isinf", value);
  }
  if (operand.is_float() && x.fn == MathFn::Neg) return fmt::format("(-{})", scalar(x.args[0]));
  std::string arguments;
  for (const Expr& arg : x.args) arguments += (arguments.empty() ? "" : ", ") + scalar(arg);
  if (!operand.is_float() && keeps_integers(x.fn)) return arguments;
  return fmt::format("at_{}_{}({})", function_of(x.fn), value_tag(operand), arguments);
}

std::string Printer::scalar_cast(const ir::Cast& x, DType to) {
  const DType from = x.value.type();
  const std::string value = scalar(x.value);
  if (to.is_bool()) {
    return from.is_bool() ? value : fmt::format("({} != 0)", value);
  }
  if (from.is_float() && to.is_int()) {
    return fmt::format("at_{}_from_{}({})", value_tag(to), value_tag(from), value);
  }
  const std::string cast =
      held_as(from) == held_as(to) ? value : fmt::format("(({}){})", value_type(to), value);
  if (!is_small_float(to)) return cast;
  return fmt::format("at_round_{}({})", ir::to_string(to.element()), cast);
}

std::string Printer::guarded(const Expr& e, Text& into) {
  const auto outside = memo_;
  std::swap(text_, into);
  std::string value = scalar(e);
  std::swap(text_, into);
  memo_ = outside;
  return value;
}

// Only the chosen side is evaluated.
std::string Printer::scalar_select(const Expr& e) {
  const auto& x = *ir::as<ir::Select>(e);
  const DType type = e.type();
  const std::string condition = scalar(x.condition);
  const bool narrow = type.is_int() && type.bits < 32;
  const auto choice = [&](const std::string& a, const std::string& b) {
    const std::string text = fmt::format("({} ? {} : {})", condition, a, b);
    return narrow ? fmt::format("(({}){})", value_type(type), text) : text;
  };
  if (codegen::safe_to_speculate(x.if_true, facts_) &&
      codegen::safe_to_speculate(x.if_false, facts_)) {
    const std::string a = scalar(x.if_true);
    return choice(a, scalar(x.if_false));
  }
  Text yes(text_.depth() + 1), no(text_.depth() + 1);
  const std::string a = guarded(x.if_true, yes), b = guarded(x.if_false, no);
  if (yes.empty() && no.empty()) return choice(a, b);
  const std::string name = names_.fresh();
  text_.line(fmt::format("{} {};", type_of(e), name));
  text_.open(fmt::format("if ({})", unwrapped(condition)));
  text_.append(yes);
  text_.line(fmt::format("{} = {};", name, a));
  text_.close("} else {");
  text_.append(no);
  text_.line(fmt::format("  {} = {};", name, b));
  text_.line("}");
  return name;
}

std::string Printer::scalar_reduce(const ir::VectorReduce& x) {
  const DType type = x.value.type();
  const std::string value = vector_name(x.value);
  const std::string name = names_.fresh();
  text_.line(fmt::format("{} {};", value_type(type), name));
  text_.line(fmt::format("{}({}, {}, {}, at_{}_{}, {});", macro("REDUCE", type.lanes),
                         value_tag(type), static_cast<int>(type.lanes), name, function_of(x.op),
                         value_tag(type), value));
  return name;
}

}  // namespace attune::c_text

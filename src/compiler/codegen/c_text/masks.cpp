// Vectors of truth values. Compilers make them as wide as what was compared, so each is written for
// the width of the lanes that it is used with.
#include <fmt/format.h>

#include "base/check.h"
#include "compiler/codegen/c_text/printer.h"
#include "compiler/ir/text/names.h"

namespace attune::c_text {

using ir::BinOp;
using ir::MathFn;

// Vectors of bool variables hold bytes.
constexpr int kByteBits = 8;

std::string Printer::mask_name(const Expr& e, int bits) {
  return named(mask_tag(bits), e.type().lanes, mask(e, bits));
}

std::string Printer::mask(const Expr& e, int bits) {
  const int count = e.type().lanes;
  const std::string tag = vector_tag(mask_tag(bits), count);
  const auto widened = [&](const std::string& text, int from) {
    if (from == bits) return text;
    return fmt::format("{}({}, {}, {})", macro("CONVERT", count), tag, count, text);
  };
  const auto compare = [&](const Expr& a, std::string_view op, const std::string& b) {
    const int width = held_as(a.type()).bits;
    return widened(fmt::format("{}({}, {}, {}, {}, {})", macro("COMPARE", count),
                               vector_tag(mask_tag(width), count), count, lanes(a), op, b),
                   width);
  };
  if (const auto* x = ir::as<ir::Binary>(e); x && ir::is_comparison(x->op)) {
    if (!x->lhs.type().is_bool()) return compare(x->lhs, ir::to_string(x->op), lanes(x->rhs));
    return fmt::format("{}({}, {}, {}, {}, {})", macro("COMPARE", count), tag, count,
                       mask(x->lhs, bits), ir::to_string(x->op), mask(x->rhs, bits));
  }
  if (const auto* x = ir::as<ir::Broadcast>(e)) {
    return fmt::format("{}({}, {}, {}({}))", macro("SPLAT", count), tag, count,
                       macro("FLAG", count), scalar(x->value));
  }
  if (const auto* x = ir::as<ir::Var>(e)) {
    return widened(fmt::format("{}({})", macro("L", count), names_.of(x->name)), kByteBits);
  }
  if (const auto* x = ir::as<ir::Cast>(e)) {
    const DType from = x->value.type();
    if (from.is_bool()) return mask(x->value, bits);
    return compare(x->value, "!=",
                   fmt::format("{}({}, {}, 0)", macro("SPLAT", count),
                               vector_tag(value_tag(from), count), count));
  }
  if (const auto* x = ir::as<ir::Load>(e)) {
    const std::string text = load_lanes(*x, e.type());
    return widened(fmt::format("{}({}, {}, {}, !=, {}(u8, {}, 0))", macro("COMPARE", count),
                               vector_tag(mask_tag(kByteBits), count), count, text,
                               macro("SPLAT", count), count),
                   kByteBits);
  }
  return mask_node(e, bits);
}

std::string Printer::mask_node(const Expr& e, int bits) {
  const int count = e.type().lanes;
  const std::string tag = mask_tag(bits);
  if (const auto* x = ir::as<ir::Binary>(e)) {
    CHECK(x->op == BinOp::And || x->op == BinOp::Or, "an operator of truth values");
    const std::string a = mask(x->lhs, bits);
    return fmt::format("({} {} {})", a, x->op == BinOp::And ? "&" : "|", mask(x->rhs, bits));
  }
  if (const auto* x = ir::as<ir::Select>(e)) {
    const std::string condition =
        x->condition.type().is_scalar()
            ? named(tag, count,
                    fmt::format("{}({}, {}, {}({}))", macro("SPLAT", count), tag, count,
                                macro("FLAG", count), scalar(x->condition)))
            : mask_name(x->condition, bits);
    const std::string a = mask(x->if_true, bits), b = mask(x->if_false, bits);
    return fmt::format("{}({}, {}, {}, {}({}), {}, {})", macro("SELECT", count), tag, tag, count,
                       macro("L", count), condition, a, b);
  }
  const auto* x = ir::as<ir::Math>(e);
  CHECK(x != nullptr, "an expression that gives truth values");
  if (x->fn == MathFn::Not) {
    return fmt::format("{}({})", macro("NOT", count), mask(x->args[0], bits));
  }
  const DType operand = x->args[0].type();
  if (x->fn == MathFn::Bitcast) return mask(ir::cast(e.type(), x->args[0]), bits);
  CHECK(x->fn == MathFn::IsNan || x->fn == MathFn::IsInf, "a function that gives truth values");
  // Not a number: not equal to itself. Infinite: as large as infinity.
  const Expr value = x->fn == MathFn::IsNan ? x->args[0] : ir::math(MathFn::Abs, {x->args[0]});
  const Expr other = x->fn == MathFn::IsNan
                         ? value
                         : ir::broadcast(ir::float_imm(HUGE_VAL, operand.element()), count);
  return mask(ir::binary(x->fn == MathFn::IsNan ? BinOp::Ne : BinOp::Eq, value, other), bits);
}

// The side of a select whose loads touch only the lanes that choose it.
std::string Printer::masked_side(const Expr& e, const std::string& mask, int bits) {
  if (codegen::safe_to_speculate(e, facts_)) return lanes(e);
  const int count = e.type().lanes;
  const std::string outer = mask_;
  const int outer_lanes = mask_lanes_, outer_bits = mask_bits_;
  mask_ = mask;
  if (!outer.empty() && outer_lanes == count) {
    const std::string l = macro("L", count), tag = mask_tag(bits);
    const std::string text =
        outer_bits == bits
            ? fmt::format("{}({})", l, outer)
            : fmt::format("{}({}, {}, {}({}))", macro("CONVERT", count), tag, count, l, outer);
    mask_ = named(tag, count, fmt::format("({}({}) & {})", l, mask, text));
  }
  mask_lanes_ = count;
  mask_bits_ = bits;
  const std::string value = named(value_tag(e.type()), count, lanes(e));
  mask_ = outer;
  mask_lanes_ = outer_lanes;
  mask_bits_ = outer_bits;
  return fmt::format("{}({})", macro("L", count), value);
}

std::string Printer::lanes_select(const ir::Select& x, DType type) {
  const int count = type.lanes;
  const int bits = held_as(type).bits;
  const std::string& tag = vector_tag(value_tag(type), count);
  const std::string mask_type = vector_tag(mask_tag(bits), count);
  const auto* uniform = ir::as<ir::Broadcast>(x.condition);
  const Expr condition = uniform ? uniform->value : x.condition;
  const bool safe = codegen::safe_to_speculate(x.if_true, facts_) &&
                    codegen::safe_to_speculate(x.if_false, facts_);
  if (condition.type().is_scalar() && !safe) {
    const std::string chosen = scalar(condition), name = names_.fresh();
    text_.line(fmt::format("{}({}, {}, {});", macro("DECLARE", count), tag, count, name));
    const auto side = [&](const Expr& e) {
      const auto outside = memo_;
      text_.line(
          fmt::format("{}({}, {}, {}, {});", macro("SET", count), tag, count, name, lanes(e)));
      memo_ = outside;
    };
    text_.open(fmt::format("if ({})", unwrapped(chosen)));
    side(x.if_true);
    text_.close();
    text_.open("else");
    side(x.if_false);
    text_.close();
    return fmt::format("{}({})", macro("L", count), name);
  }
  const std::string chosen =
      condition.type().is_scalar()
          ? named(mask_type, count,
                  fmt::format("{}({}, {}, {}({}))", macro("SPLAT", count), mask_type, count,
                              macro("FLAG", count), scalar(condition)))
          : mask_name(x.condition, bits);
  const std::string l = macro("L", count);
  std::string a, b;
  if (safe) {
    a = lanes(x.if_true);
    b = lanes(x.if_false);
  } else {
    a = masked_side(x.if_true, chosen, bits);
    const bool is_masked = !codegen::safe_to_speculate(x.if_false, facts_);
    const std::string others = fmt::format("{}({}({}))", macro("NOT", count), l, chosen);
    b = masked_side(x.if_false, is_masked ? named(mask_type, count, others) : "", bits);
  }
  return fmt::format("{}({}, {}, {}, {}({}), {}, {})", macro("SELECT", count), tag, mask_type,
                     count, l, chosen, a, b);
}

}  // namespace attune::c_text

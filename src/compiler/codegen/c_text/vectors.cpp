// Expressions of several lanes. Lanes that are no power of two, which compilers have no vectors of,
// are arrays everywhere.
#include <fmt/format.h>

#include "base/check.h"
#include "base/match.h"
#include "compiler/codegen/c_text/operators.h"
#include "compiler/codegen/c_text/printer.h"
#include "compiler/ir/text/names.h"

namespace attune::c_text {
namespace {

// "x" of "VL(x)"; empty when the text is something else.
std::string variable_in(const std::string& text) {
  if (!text.starts_with("VL(") && !text.starts_with("AL(")) return {};
  return text.find_first_of(") ,") == text.size() - 1 ? text.substr(3, text.size() - 4) : "";
}

bool is_leaf(const ir::Expr& e) { return ir::as<ir::IntImm>(e) || ir::as<ir::FloatImm>(e); }

}  // namespace

using ir::BinOp;
using ir::MathFn;

std::string Printer::macro(const char* name, int count) const {
  return ((count & (count - 1)) == 0 ? "V" : "A") + std::string(name);
}

const std::string& Printer::vector_tag(const std::string& tag, int count) {
  return vectors_.emplace(tag, count).first->first;
}

std::string Printer::named(const std::string& tag, int count, const std::string& text) {
  const std::string name = names_.fresh();
  text_.line(fmt::format("{}({}, {}, {}, {});", macro("LET", count), vector_tag(tag, count), count,
                         name, text));
  return name;
}

std::string Printer::vector_name(const Expr& e) {
  const std::string text = lanes(e);
  const std::string known = variable_in(text);
  return known.empty() ? named(value_tag(e.type()), e.type().lanes, text) : known;
}

std::string Printer::lane_atom(const Expr& e) {
  if (const auto* x = ir::as<ir::Broadcast>(e); x && is_leaf(x->value)) return lanes(e);
  return fmt::format("{}({})", macro("L", e.type().lanes), vector_name(e));
}

std::string Printer::call_lanes(const std::string& function, const std::string& result_tag,
                                const std::string& argument_tag, int count,
                                const std::vector<std::string>& names) {
  const std::string result = names_.fresh();
  text_.line(fmt::format("{}({}, {}, {});", macro("DECLARE", count), vector_tag(result_tag, count),
                         count, result));
  std::string arguments;
  for (const std::string& name : names) arguments += ", " + name;
  text_.line(fmt::format("{}{}({}, {}, {}, {}, {}{});", macro("MAP", count), names.size(),
                         result_tag, vector_tag(argument_tag, count), count, result, function,
                         arguments));
  return fmt::format("{}({})", macro("L", count), result);
}

std::string Printer::lanes(const Expr& e) {
  if (!is_shared(e) || !mask_.empty() || ir::as<ir::Var>(e)) return lanes_node(e);
  const auto found = memo_.find(&*e);
  const int count = e.type().lanes;
  if (found != memo_.end()) return fmt::format("{}({})", macro("L", count), found->second);
  const std::string text = lanes_node(e);
  const std::string known = variable_in(text);
  const std::string name = known.empty() ? named(value_tag(e.type()), count, text) : known;
  memo_.emplace(&*e, name);
  return fmt::format("{}({})", macro("L", count), name);
}

std::string Printer::lanes_node(const Expr& e) {
  const DType type = e.type();
  const int count = type.lanes;
  const std::string& tag = vector_tag(value_tag(type), count);
  const auto splat = [&](const Expr& x) {
    return fmt::format("{}({}, {}, {})", macro("SPLAT", count), tag, count, scalar(x));
  };
  return std::visit(
      Match{
          [&](const ir::IntImm&) -> std::string { CHECK(false, "a constant of several lanes"); },
          [&](const ir::FloatImm&) -> std::string { CHECK(false, "a constant of several lanes"); },
          [&](const ir::Var& x) {
            return fmt::format("{}({})", macro("L", count), names_.of(x.name));
          },
          [&](const ir::Binary& x) { return lanes_binary(x, type); },
          [&](const ir::Math& x) { return lanes_math(x, type); },
          [&](const ir::Select& x) { return lanes_select(x, type); },
          [&](const ir::Cast& x) { return lanes_cast(x, type); },
          [&](const ir::Load& x) { return from_memory(load_lanes(x, type), type); },
          [&](const ir::Ramp& x) {
            std::string numbers;
            for (int i = 0; i < count; ++i) numbers += fmt::format(", {}", i);
            const std::string iota =
                fmt::format("{}({}, {}{})", macro("IOTA", count), tag, count, numbers);
            if (type.is_float())
              return fmt::format("({} + {} * {})", splat(x.base), splat(x.stride), iota);
            const std::string wrap = macro("WRAP", count);
            const std::string steps =
                fmt::format("{}({}, {}, {}, *, {})", wrap, tag, count, splat(x.stride), iota);
            return fmt::format("{}({}, {}, {}, +, {})", wrap, tag, count, splat(x.base), steps);
          },
          [&](const ir::Broadcast& x) { return splat(x.value); },
          [&](const ir::VectorReduce&) -> std::string { CHECK(false, "a reduction has one lane"); },
          [&](const ir::Opaque& x) -> std::string {
            CHECK(false, "intrinsic '" + x.name + "' has no lanes");
          },
      },
      e->kind);
}

std::string Printer::lanes_binary(const ir::Binary& x, DType type) {
  const int count = type.lanes;
  const std::string& tag = vector_tag(value_tag(type), count);
  if (x.op == BinOp::Min || x.op == BinOp::Max) {
    const std::string a = lane_atom(x.lhs), b = lane_atom(x.rhs);
    const std::string& bits = vector_tag(mask_tag(held_as(type).bits), count);
    return fmt::format("{}({}, {}, {}, {}({}, {}, {}, {}, {}), {}, {})", macro("SELECT", count),
                       tag, bits, count, macro("COMPARE", count), bits, count, a,
                       x.op == BinOp::Min ? "<" : ">", b, a, b);
  }
  const bool is_division = x.op == BinOp::Div || x.op == BinOp::Mod;
  if (is_division && !type.is_float()) return lanes_division(x, type);
  if (x.op == BinOp::Mod || x.op == BinOp::Shl || x.op == BinOp::Shr) {
    const std::string a = vector_name(x.lhs), b = vector_name(x.rhs);
    return call_lanes(fmt::format("at_{}_{}", function_of(x.op), tag), tag, tag, count, {a, b});
  }
  const std::string a = lanes(x.lhs), b = lanes(x.rhs);
  const bool wraps =
      type.is_int() && x.op <= BinOp::Mul && !(in_index_ && type.element() == ir::kIndex);
  if (wraps) {
    return fmt::format("{}({}, {}, {}, {}, {})", macro("WRAP", count), tag, count, a,
                       ir::to_string(x.op), b);
  }
  return fmt::format("({} {} {})", a, ir::to_string(x.op), b);
}

std::string Printer::lanes_division(const ir::Binary& x, DType type) {
  const auto* splat = ir::as<ir::Broadcast>(x.rhs);
  const std::int64_t* value = splat ? ir::as_int(splat->value) : nullptr;
  const int count = type.lanes;
  const std::string& tag = vector_tag(value_tag(type), count);
  if (value && *value > 0 && (*value & (*value - 1)) == 0) {
    const int shift = __builtin_ctzll(static_cast<unsigned long long>(*value));
    if (x.op == BinOp::Div) return fmt::format("({} >> {})", lanes(x.lhs), shift);
    return fmt::format("({} & {}({}, {}, {}))", lanes(x.lhs), macro("SPLAT", count), tag, count,
                       int_literal(*value - 1, type.element()));
  }
  const std::string a = vector_name(x.lhs), b = vector_name(x.rhs);
  return call_lanes(fmt::format("at_{}_{}", function_of(x.op), tag), tag, tag, count, {a, b});
}

std::string Printer::lanes_math(const ir::Math& x, DType type) {
  const DType operand = x.args[0].type();
  const int count = type.lanes;
  if (x.fn == MathFn::Bitcast) return lanes_bitcast(x.args[0], type);
  const std::string& tag = vector_tag(value_tag(operand), count);
  if (x.fn == MathFn::Neg) {
    if (operand.is_float()) return fmt::format("(-{})", lanes(x.args[0]));
    return fmt::format("{}({}, {}, {}({}, {}, 0), -, {})", macro("WRAP", count), tag, count,
                       macro("SPLAT", count), tag, count, lanes(x.args[0]));
  }
  if (!operand.is_float() && keeps_integers(x.fn)) return lanes(x.args[0]);
  std::vector<std::string> names;
  for (const Expr& arg : x.args) names.push_back(vector_name(arg));
  return call_lanes(fmt::format("at_{}_{}", function_of(x.fn), tag), tag, tag, count, names);
}

std::string Printer::lanes_cast(const ir::Cast& x, DType to) {
  const DType from = x.value.type();
  const int count = to.lanes;
  const std::string& tag = vector_tag(value_tag(to), count);
  const auto converted = [&](const std::string& text) {
    return fmt::format("{}({}, {}, {})", macro("CONVERT", count), tag, count, text);
  };
  if (from.is_bool()) {
    const int bits = held_as(to).bits;
    const std::string& whole = vector_tag(mask_tag(bits), count);
    return converted(fmt::format("{}({}, {}, {})", macro("FROM_MASK", count), whole, count,
                                 mask(x.value, bits)));
  }
  if (from.is_float() && to.is_int()) {
    const std::string name = vector_name(x.value);
    return call_lanes(fmt::format("at_{}_from_{}", tag, value_tag(from)), tag, value_tag(from),
                      count, {name});
  }
  std::string text = lanes(x.value);
  if (value_tag(from) != tag) text = converted(text);
  if (!is_small_float(to)) return text;
  const std::string whole = named(tag, count, text);
  return call_lanes("at_round_" + ir::to_string(to.element()), tag, tag, count, {whole});
}

std::string Printer::lanes_bitcast(const Expr& value, DType to) {
  const int count = to.lanes;
  const DType from = value.type();
  std::string name = vector_name(value);
  std::string tag = value_tag(from);
  if (is_small_float(from)) {
    const std::string function = fmt::format("at_{}_from_f32", ir::to_string(from.element()));
    name = variable_in(call_lanes(function, "u16", "f32", count, {name}));
    tag = "u16";
  }
  const std::string wanted = is_small_float(to) ? "u16" : value_tag(to);
  const std::string bits = names_.fresh();
  text_.line(fmt::format("{}({}, {}, {});", macro("DECLARE", count), vector_tag(wanted, count),
                         count, bits));
  text_.line(fmt::format("{}({}, {});", macro("BITS", count), bits, name));
  if (!is_small_float(to)) return fmt::format("{}({})", macro("L", count), bits);
  return call_lanes("at_f32_from_" + ir::to_string(to.element()), "f32", "u16", count, {bits});
}

}  // namespace attune::c_text

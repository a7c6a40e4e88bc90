// Addresses, loads, stores and allocations. An index is written as a sum of terms, those of outer
// loops first and its constant last: beginnings of the sum are invariant in inner loops, and
// neighbouring accesses share all but the constant.
#include <fmt/format.h>

#include "base/check.h"
#include "compiler/codegen/c_text/printer.h"
#include "compiler/codegen/walk.h"

namespace attune::c_text {

namespace {

// Whether the value reads the buffer at another place than this one.
bool reads_elsewhere(const ir::Expr& value, const ir::Store& s) {
  bool found = false;
  codegen::walk(value, [&](const ir::Expr& e) {
    const auto* x = ir::as<ir::Load>(e);
    found |= x && x->buffer == s.buffer && !ir::equal(x->index[0], s.index[0]);
  });
  return found;
}

// The places (first element, lanes) of a register buffer that its allocation uses.
std::set<std::pair<std::int64_t, int>> places_of(const ir::Allocate& s) {
  std::set<std::pair<std::int64_t, int>> places;
  const auto access = [&](const ir::Buffer& buffer, const ir::Expr& at) {
    if (buffer == s.buffer) places.emplace(*codegen::constant_place(at), at.type().lanes);
  };
  codegen::walk(
      s.body,
      [&](const ir::Stmt& child) {
        if (const auto* x = ir::as<ir::Store>(child)) access(x->buffer, x->index[0]);
      },
      [&](const ir::Expr& e) {
        if (const auto* x = ir::as<ir::Load>(e)) access(x->buffer, x->index[0]);
      });
  return places;
}

}  // namespace

const std::string& Printer::load_base(const ir::BufferNode& buffer) {
  const auto found = load_bases_.find(&buffer);
  return found != load_bases_.end() ? found->second : names_.of(buffer.name);
}

std::string Printer::address(const ir::BufferNode&, const std::string& base, const Expr& at) {
  const codegen::LinearIndex linear = codegen::linearize(at, facts_);
  std::string text = base;
  for (const auto& [term, coefficient] : linear.terms) {
    const std::string value = index(term);
    text += coefficient == 1 ? " + " + value : fmt::format(" + {} * {}", value, coefficient);
  }
  if (linear.constant > 0) text += fmt::format(" + {}", linear.constant);
  if (linear.constant < 0) text += fmt::format(" - {}", -linear.constant);
  return text;
}

std::string Printer::element(const ir::BufferNode& buffer, const std::string& base,
                             const Expr& at) {
  if (const auto* value = ir::as_int(at)) return fmt::format("{}[{}]", base, *value);
  return fmt::format("*({})", address(buffer, base, at));
}

std::string Printer::slot(const ir::BufferNode& buffer, const Expr& at) {
  return names_.of(fmt::format("{}.{}", buffer.name, *codegen::constant_place(at)));
}

std::string Printer::load_scalar(const ir::Load& x, DType type) {
  const std::string text = load_element(x, type);
  if (type.is_bool()) return fmt::format("({} != 0)", text);
  if (!is_small_float(type)) return text;
  return fmt::format("at_f32_from_{}({})", ir::to_string(type), text);
}

// As it lies in memory.
std::string Printer::load_element(const ir::Load& x, DType type) {
  const ir::BufferNode& buffer = *x.buffer;
  const Expr& at = x.index[0];
  std::string text;
  if (plan_.as_values.contains(&buffer)) {
    text = slot(buffer, at);
  } else {
    text = element(buffer, load_base(buffer), at);
    const auto range = codegen::range_of(at, facts_);
    const bool inside = range && range->min >= 0 && range->max < ir::element_count(buffer);
    if (!mask_.empty() && !inside) {
      const std::string any = names_.fresh(), value = names_.fresh();
      text_.line(fmt::format("int {};", any));
      text_.line(fmt::format("ANY_LANE({}, {}, {});", mask_lanes_, any, mask_));
      text_.line(
          fmt::format("const {0} {1} = {2} ? {3} : ({0})0;", memory_type(type), value, any, text));
      text = value;
    }
  }
  return text;
}

std::string Printer::load_lanes(const ir::Load& x, DType type) {
  const ir::BufferNode& buffer = *x.buffer;
  const Expr& at = x.index[0];
  const int count = type.lanes;
  const std::string& tag = vector_tag(memory_tag(type), count);
  if (plan_.as_values.contains(&buffer)) {
    return fmt::format("{}({})", macro("L", count), slot(buffer, at));
  }
  if (!mask_.empty() && mask_lanes_ == count) {
    const auto range = codegen::range_of(at, facts_);
    if (!range || range->min < 0 || range->max >= ir::element_count(buffer)) {
      return load_lanes_if(x, type);
    }
  }
  const std::string& base = load_base(buffer);
  const auto strided = codegen::as_strided(at);
  const std::int64_t* stride = strided ? ir::as_int(strided->stride) : nullptr;
  if (stride && *stride == 1) return load_side_by_side(buffer, strided->base, tag, count);
  if (stride && *stride == 0) {
    return fmt::format("{}({}, {}, {})", macro("SPLAT", count), tag, count,
                       element(buffer, base, strided->base));
  }
  const std::string steps = strided ? index(strided->stride) : "";
  const bool before = std::exchange(in_index_, true);
  const std::string places = strided ? "" : vector_name(at);
  in_index_ = before;
  const std::string name = names_.fresh();
  text_.line(fmt::format("{}({}, {}, {});", macro("DECLARE", count), tag, count, name));
  if (strided) {
    text_.line(fmt::format("{}({}, {}, {}, {}, {});", macro("STRIDED", count), tag, count, name,
                           address(buffer, base, strided->base), steps));
  } else {
    text_.line(fmt::format("{}({}, {}, {}, {}, {});", macro("GATHER", count), tag, count, name,
                           base, places));
  }
  return fmt::format("{}({})", macro("L", count), name);
}

std::string Printer::load_side_by_side(const ir::BufferNode& buffer, const Expr& first,
                                       const std::string& tag, int count) {
  return fmt::format("{}({}, {}, {})", macro("LOAD", count), tag, count,
                     address(buffer, load_base(buffer), first));
}

void Printer::store_side_by_side(const ir::BufferNode& buffer, const Expr& first,
                                 const std::string& tag, int count, const std::string& text) {
  text_.line(fmt::format("{}({}, {}, {}, {});", macro("STORE", count), tag, count,
                         address(buffer, names_.of(buffer.name), first), text));
}

// A load in the lanes of mask_ only. Other lanes are zero.
std::string Printer::load_lanes_if(const ir::Load& x, DType type) {
  const ir::BufferNode& buffer = *x.buffer;
  const int count = type.lanes;
  const std::string& tag = vector_tag(memory_tag(type), count);
  const auto strided = codegen::as_strided(x.index[0]);
  const bool before = std::exchange(in_index_, true);
  const std::string places = strided ? index(strided->stride) : vector_name(x.index[0]);
  in_index_ = before;
  const std::string name = names_.fresh();
  const std::string& base = load_base(buffer);
  text_.line(fmt::format("{}({}, {}, {});", macro("DECLARE", count), tag, count, name));
  text_.line(fmt::format("{}({}, {}, {}, {}, {}, {});",
                         macro(strided ? "STRIDED_IF" : "GATHER_IF", count), tag, count, name,
                         mask_, strided ? address(buffer, base, strided->base) : base, places));
  return fmt::format("{}({})", macro("L", count), name);
}

std::string Printer::from_memory(const std::string& text, DType type) {
  if (!is_small_float(type)) return text;
  const std::string name = named("u16", type.lanes, text);
  return call_lanes("at_f32_from_" + ir::to_string(type.element()), "f32", "u16", type.lanes,
                    {name});
}

std::string Printer::to_memory(const Expr& value) {
  const DType type = value.type();
  const std::string text = scalar(value);
  if (is_small_float(type)) {
    return fmt::format("at_{}_from_f32({})", ir::to_string(type), text);
  }
  const bool narrow = !type.is_float() && type.bits < 32;
  return narrow ? fmt::format("({})({})", memory_type(type), text) : text;
}

std::string Printer::lanes_to_memory(const Expr& value) {
  const DType type = value.type();
  const int count = type.lanes;
  if (type.is_bool()) {
    return fmt::format("{}({}, {}, {})", macro("FROM_MASK", count), vector_tag("u8", count), count,
                       mask(value, 8));
  }
  if (!is_small_float(type)) return lanes(value);
  const std::string name = vector_name(value);
  return call_lanes(fmt::format("at_{}_from_f32", ir::to_string(type.element())), "u16", "f32",
                    count, {name});
}

void Printer::store(const ir::Store& s) {
  const ir::BufferNode& buffer = *s.buffer;
  const Expr& at = s.index[0];
  const DType type = buffer.type.with_lanes(at.type().lanes);
  const int count = type.lanes;
  Expr value = s.value;
  // Storing rounds anyway; a cast from single just before it would round twice.
  const auto* cast = is_small_float(type) ? ir::as<ir::Cast>(value) : nullptr;
  const bool skip = cast && cast->value.type().element() == ir::kF32;
  uses_.clear();
  count_uses(value);
  std::string text;
  const auto* copied = is_small_float(type) ? ir::as<ir::Load>(value) : nullptr;
  if (copied && copied->buffer->type == buffer.type) {
    text = value.type().is_scalar() ? load_element(*copied, type.element())
                                    : load_lanes(*copied, value.type());
  } else if (skip && value.type().is_scalar()) {
    text = fmt::format("at_{}_from_f32({})", ir::to_string(type.element()), scalar(cast->value));
  } else if (skip) {
    const std::string name = vector_name(cast->value);
    text = call_lanes(fmt::format("at_{}_from_f32", ir::to_string(type.element())), "u16", "f32",
                      count, {name});
  } else {
    text = value.type().is_scalar() ? to_memory(value) : lanes_to_memory(value);
  }
  if (count == 1) {
    const bool in_value = plan_.as_values.contains(&buffer);
    const std::string place =
        in_value ? slot(buffer, at) : element(buffer, names_.of(buffer.name), at);
    text_.line(fmt::format("{} = {};", place, text));
    return;
  }
  if (value.type().is_scalar()) {
    text = fmt::format("{}({}, {}, {})", macro("SPLAT", count), vector_tag(memory_tag(type), count),
                       count, text);
  }
  store_lanes(s, text, type);
}

void Printer::store_lanes(const ir::Store& s, const std::string& text, DType type) {
  const ir::BufferNode& buffer = *s.buffer;
  const Expr& at = s.index[0];
  const int count = type.lanes;
  const std::string& tag = vector_tag(memory_tag(type), count);
  if (plan_.as_values.contains(&buffer)) {
    text_.line(fmt::format("{}({}, {}, {}, {});", macro("SET", count), tag, count, slot(buffer, at),
                           text));
    return;
  }
  const std::string& base = names_.of(buffer.name);
  const auto strided = codegen::as_strided(at);
  if (strided && ir::is_const_int(strided->stride, 1) && !reads_elsewhere(s.value, s)) {
    return store_side_by_side(buffer, strided->base, tag, count, text);
  }
  const std::string value = named(tag, count, text);
  if (strided && ir::is_const_int(strided->stride, 1)) {
    return store_side_by_side(buffer, strided->base, tag, count,
                              fmt::format("{}({})", macro("L", count), value));
  }
  if (strided) {
    const std::string steps = index(strided->stride);
    text_.line(fmt::format("{}({}, {}, {}, {}, {});", macro("SCATTER_STRIDED", count), tag, count,
                           address(buffer, base, strided->base), steps, value));
    return;
  }
  const bool before = std::exchange(in_index_, true);
  const std::string places = vector_name(at);
  in_index_ = before;
  text_.line(fmt::format("{}({}, {}, {}, {}, {});", macro("SCATTER", count), tag, count, base,
                         places, value));
}

void Printer::declare_values(const ir::Allocate& s) {
  const ir::BufferNode& buffer = *s.buffer;
  for (const auto& [place, count] : places_of(s)) {
    const std::string name = names_.of(fmt::format("{}.{}", buffer.name, place));
    if (count == 1) {
      text_.line(fmt::format("{} {} = 0;", memory_type(buffer.type), name));
    } else {
      text_.line(fmt::format("{}({}, {}, {});", macro("DECLARE", count),
                             vector_tag(memory_tag(buffer.type), count), count, name));
    }
  }
}

void Printer::allocate(const ir::Allocate& s) {
  const ir::BufferNode& buffer = *s.buffer;
  text_.open("");
  if (plan_.as_values.contains(&buffer)) {
    declare_values(s);
  } else {
    declare(buffer);
  }
  const bool fresh = bound_.insert(&buffer).second;
  statement(s.body);
  if (fresh) bound_.erase(&buffer);
  text_.close();
}

}  // namespace attune::c_text

#include "compiler/codegen/index_facts.h"

#include <algorithm>
#include <numeric>

#include "compiler/codegen/walk.h"

namespace attune::codegen {
namespace {

using ir::BinOp;
using ir::Expr;

constexpr std::int64_t kZeroDivisor = std::int64_t{1} << 30;
// Ranges beyond this are given up, so that interval arithmetic cannot overflow.
constexpr std::int64_t kRangeLimit = std::int64_t{1} << 40;

std::optional<Interval> checked(Interval r) {
  if (r.min < -kRangeLimit || r.max > kRangeLimit) return std::nullopt;
  return r;
}

std::optional<Interval> product(Interval a, Interval b) {
  const auto limit = std::int64_t{1} << 31;
  const auto fits = [&](Interval x) { return x.min >= -limit && x.max <= limit; };
  if (!fits(a) || !fits(b)) return std::nullopt;
  const auto [low, high] =
      std::minmax({a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max});
  return checked({low, high});
}

std::optional<Interval> range_of_binary(const ir::Binary& x, const Facts& facts) {
  const auto a = range_of(x.lhs, facts), b = range_of(x.rhs, facts);
  if (x.op == BinOp::Mod && b && b->min > 0) {
    if (a && a->min >= 0 && a->max < b->min) return a;
    return Interval{0, b->max - 1};
  }
  if (x.op == BinOp::Min && a && b)
    return Interval{std::min(a->min, b->min), std::min(a->max, b->max)};
  if (x.op == BinOp::Max && a && b)
    return Interval{std::max(a->min, b->min), std::max(a->max, b->max)};
  if (!a || !b) return std::nullopt;
  switch (x.op) {
    case BinOp::Add:
      return checked({a->min + b->min, a->max + b->max});
    case BinOp::Sub:
      return checked({a->min - b->max, a->max - b->min});
    case BinOp::Mul:
      return product(*a, *b);
    case BinOp::Div:
      if (b->min != b->max || b->min <= 0) return std::nullopt;
      return Interval{ir::floor_div(a->min, b->min), ir::floor_div(a->max, b->min)};
    default:
      return std::nullopt;
  }
}

// Adds scale * e to the linear form.
void accumulate(const Expr& e, std::int64_t scale, LinearIndex& out) {
  if (const auto* value = ir::as_int(e)) {
    out.constant += scale * *value;
    return;
  }
  if (const auto* x = ir::as<ir::Binary>(e)) {
    if (x->op == BinOp::Add || x->op == BinOp::Sub) {
      accumulate(x->lhs, scale, out);
      accumulate(x->rhs, x->op == BinOp::Add ? scale : -scale, out);
      return;
    }
    if (x->op == BinOp::Mul) {
      if (const auto* factor = ir::as_int(x->rhs)) return accumulate(x->lhs, scale * *factor, out);
      if (const auto* factor = ir::as_int(x->lhs)) return accumulate(x->rhs, scale * *factor, out);
    }
  }
  for (LinearTerm& t : out.terms) {
    if (ir::equal(t.term, e)) {
      t.coefficient += scale;
      return;
    }
  }
  out.terms.push_back({e, scale});
}

int depth_of(const Expr& e, const Facts& facts) {
  if (const auto* v = ir::as<ir::Var>(e)) {
    const auto found = facts.find(v->name);
    return found == facts.end() ? 0 : found->second.depth;
  }
  int depth = 0;
  walk(e, [&](const Expr& node) {
    if (ir::as<ir::Var>(node) && !node.same(e)) depth = std::max(depth, depth_of(node, facts));
  });
  return depth;
}

}  // namespace

std::optional<Interval> range_of(const Expr& e, const Facts& facts) {
  if (const auto* value = ir::as_int(e)) return checked({*value, *value});
  if (const auto* v = ir::as<ir::Var>(e)) {
    const auto found = facts.find(v->name);
    return found == facts.end() ? std::nullopt : found->second.range;
  }
  if (!e.type().is_int() || e.type().bits < 64) return std::nullopt;
  if (const auto* x = ir::as<ir::Binary>(e)) return range_of_binary(*x, facts);
  if (const auto* x = ir::as<ir::Broadcast>(e)) return range_of(x->value, facts);
  if (const auto* x = ir::as<ir::Ramp>(e)) {
    const auto base = range_of(x->base, facts), stride = range_of(x->stride, facts);
    if (!base || !stride) return std::nullopt;
    const auto span = product(*stride, {0, e.type().lanes - 1});
    if (!span) return std::nullopt;
    return checked({base->min + span->min, base->max + span->max});
  }
  if (const auto* x = ir::as<ir::Select>(e)) {
    const auto a = range_of(x->if_true, facts), b = range_of(x->if_false, facts);
    if (!a || !b) return std::nullopt;
    return Interval{std::min(a->min, b->min), std::max(a->max, b->max)};
  }
  return std::nullopt;
}

std::int64_t divisor_of(const Expr& e, const Facts& facts) {
  if (const auto* value = ir::as_int(e)) {
    return *value == 0 ? kZeroDivisor : std::min(std::abs(*value), kZeroDivisor);
  }
  if (const auto* v = ir::as<ir::Var>(e)) {
    const auto found = facts.find(v->name);
    return found == facts.end() ? 1 : found->second.divisor;
  }
  const auto* x = ir::as<ir::Binary>(e);
  if (!x) return 1;
  const std::int64_t a = divisor_of(x->lhs, facts), b = divisor_of(x->rhs, facts);
  switch (x->op) {
    case BinOp::Add:
    case BinOp::Sub:
    case BinOp::Min:
    case BinOp::Max:
    case BinOp::Mod:
      return std::gcd(a, b);
    case BinOp::Mul:
      return a >= kZeroDivisor / b ? kZeroDivisor : a * b;
    default:
      return 1;
  }
}

std::optional<Strided> as_strided(const Expr& index) {
  if (const auto* x = ir::as<ir::Ramp>(index)) return Strided{x->base, x->stride};
  if (const auto* x = ir::as<ir::Broadcast>(index)) return Strided{x->value, Expr(0)};
  const auto* x = ir::as<ir::Binary>(index);
  if (!x || index.type().element() != ir::kIndex) return std::nullopt;
  if (x->op != BinOp::Add && x->op != BinOp::Sub && x->op != BinOp::Mul) return std::nullopt;
  const auto a = as_strided(x->lhs), b = as_strided(x->rhs);
  if (!a || !b) return std::nullopt;
  const auto plus = [](const Expr& p, const Expr& q) {
    if (ir::is_const_int(p, 0)) return q;
    return ir::is_const_int(q, 0) ? p : p + q;
  };
  if (x->op == BinOp::Add) return Strided{plus(a->base, b->base), plus(a->stride, b->stride)};
  if (x->op == BinOp::Sub) {
    const Expr stride = ir::is_const_int(b->stride, 0) ? a->stride : a->stride - b->stride;
    return Strided{a->base - b->base, stride};
  }
  const auto scaled = [](const Strided& s, const Expr& factor) {
    return Strided{s.base * factor, ir::is_const_int(s.stride, 1) ? factor : s.stride * factor};
  };
  if (ir::is_const_int(b->stride, 0)) return scaled(*a, b->base);
  if (ir::is_const_int(a->stride, 0)) return scaled(*b, a->base);
  return std::nullopt;
}

LinearIndex linearize(const Expr& index, const Facts& facts) {
  LinearIndex out;
  accumulate(index, 1, out);
  std::erase_if(out.terms, [](const LinearTerm& t) { return t.coefficient == 0; });
  std::stable_sort(out.terms.begin(), out.terms.end(), [&](const auto& a, const auto& b) {
    return depth_of(a.term, facts) < depth_of(b.term, facts);
  });
  return out;
}

bool safe_to_speculate(const Expr& e, const Facts& facts) {
  bool safe = true;
  walk(e, [&](const Expr& node) {
    if (const auto* x = ir::as<ir::Load>(node)) {
      const auto range = range_of(x->index[0], facts);
      safe &= range && range->min >= 0 && range->max < ir::element_count(*x->buffer);
    } else if (const auto* b = ir::as<ir::Binary>(node)) {
      if ((b->op == BinOp::Div || b->op == BinOp::Mod) && node.type().is_int()) {
        const auto divisor = range_of(b->rhs, facts);
        safe &= divisor && (divisor->min > 0 || divisor->max < 0);
      }
    } else if (ir::as<ir::Opaque>(node)) {
      safe = false;
    }
  });
  return safe;
}

}  // namespace attune::codegen

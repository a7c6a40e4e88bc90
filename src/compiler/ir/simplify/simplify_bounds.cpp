// Intervals of canonical forms, and what Ranges knows.
#include "base/check.h"
#include "compiler/ir/simplify/simplifier.h"

namespace attune::ir {
namespace {

Interval range_of_type(DType type) {
  if (type.is_bool()) return {0, 1};
  if (!type.is_int() || type.bits >= 64) return {};
  if (type.kind == TypeKind::UInt) return {0, (std::int64_t{1} << type.bits) - 1};
  return {-(std::int64_t{1} << (type.bits - 1)), (std::int64_t{1} << (type.bits - 1)) - 1};
}

}  // namespace

Interval Simplifier::bounds(const IndexSum& form) const { return bounds_by_cases(form, 2); }

// A sum that mentions something twice, once inside a minimum, maximum or selection, is bounded more
// tightly by looking at both cases of it.
Interval Simplifier::bounds_by_cases(const IndexSum& form, int depth) const {
  const Interval range = bounds_by_facts(form);
  if (depth == 0 || form.terms.size() < 2) return range;
  for (const Term& term : form.terms) {
    const auto* x = as<Binary>(term.atom);
    const auto* s = as<Select>(term.atom);
    const bool extremum = x && (x->op == BinOp::Min || x->op == BinOp::Max);
    if (!extremum && !s) continue;
    IndexSum first = form;
    first.add(term.atom, wrap_mul(term.coefficient, -1));
    IndexSum second = first;
    first.add(sum_of(s ? s->if_true : x->lhs), term.coefficient);
    second.add(sum_of(s ? s->if_false : x->rhs), term.coefficient);
    const Interval a = bounds_by_cases(first, depth - 1), b = bounds_by_cases(second, depth - 1);
    const bool lower = extremum && (x->op == BinOp::Min) == (term.coefficient > 0);
    return intersect(range, s ? unite(a, b) : (lower ? min(a, b) : max(a, b)));
  }
  return range;
}

Interval Simplifier::bounds_by_facts(const IndexSum& form) const {
  Interval range = Interval::point(form.constant);
  for (const Term& term : form.terms) range = range + bounds(term.atom) * term.coefficient;
  // With a known sum f in [p, q], form = c * f + difference for every c.
  for (const auto* fact = ranges_.facts_.get(); fact; fact = fact->next.get()) {
    const Term& first = fact->sum.terms[0];
    const std::int64_t coefficient = form.coefficient_of(first.atom);
    if (coefficient == 0 || coefficient % first.coefficient != 0) continue;
    const std::int64_t c = coefficient / first.coefficient;
    IndexSum difference = form;
    difference.add(fact->sum, wrap_mul(c, -1));
    Interval other = Interval::point(difference.constant) + fact->interval * c;
    for (const Term& term : difference.terms) {
      other = other + bounds(term.atom) * term.coefficient;
    }
    range = intersect(range, other);
  }
  return range;
}

Interval Simplifier::bounds(const Expr& e) const {
  if (const auto* x = as<IntImm>(e)) return Interval::point(x->value);
  if (const auto* x = as<Var>(e)) {
    return e.type() == kIndex ? ranges_.of(x->name) : range_of_type(e.type());
  }
  if (e.type() != kIndex) return range_of_type(e.type());
  if (const auto* x = as<Binary>(e)) return bounds_of_binary(*x);
  if (const auto* x = as<Select>(e)) return unite(bounds(x->if_true), bounds(x->if_false));
  if (const auto* x = as<Cast>(e)) return bounds(x->value);
  if (const auto* x = as<Math>(e)) {
    if (x->fn == MathFn::Abs) {
      const Interval inner = bounds(x->args[0]);
      return max(inner, Interval::point(0) - inner);
    }
    if (x->fn == MathFn::Sign) return {-1, 1};
  }
  return {};
}

Interval Simplifier::bounds_of_binary(const Binary& x) const {
  const auto* constant = as_int(x.rhs);
  switch (x.op) {
    case BinOp::Add:
      return bounds(x.lhs) + bounds(x.rhs);
    case BinOp::Sub:
      return bounds(x.lhs) - bounds(x.rhs);
    case BinOp::Mul:
      return bounds(x.lhs) * bounds(x.rhs);
    case BinOp::Min:
      return min(bounds(x.lhs), bounds(x.rhs));
    case BinOp::Max:
      return max(bounds(x.lhs), bounds(x.rhs));
    case BinOp::Div: {
      if (constant && *constant > 0) return floor_div(bounds(x.lhs), *constant);
      const Interval a = bounds(x.lhs), b = bounds(x.rhs);
      // With b >= 1 the quotient is between 0 (or -1) and the numerator.
      if (b.low > 0) return {a.low < 0 ? a.low : 0, a.high < 0 ? -1 : a.high};
      return {};
    }
    case BinOp::Mod: {
      if (constant && *constant > 0) return floor_mod(bounds(x.lhs), *constant);
      const Interval a = bounds(x.lhs), b = bounds(x.rhs);
      if (b.low <= 0) return {};
      Interval range{0, b.high == Interval::kHighest ? b.high : b.high - 1};
      if (a.low >= 0) range.high = std::min(range.high, a.high);
      return range;
    }
    case BinOp::BitAnd:
      return constant && *constant >= 0 ? Interval{0, *constant} : Interval{};
    default:
      return {};
  }
}

Ranges::Ranges(std::initializer_list<std::pair<std::string, Interval>> variables) {
  for (const auto& [name, interval] : variables) *this = with(name, interval);
}

Ranges Ranges::with(std::string name, Interval interval) const {
  Ranges extended = *this;
  extended.variables_ =
      std::make_shared<const Variable>(Variable{std::move(name), interval, variables_});
  return extended;
}

Ranges Ranges::with_loop(const std::string& name, const Expr& min, const Expr& extent) const {
  const Simplifier simplifier(*this);
  const IndexSum first = simplifier.index(min);
  const IndexSum count = simplifier.index(extent);
  IndexSum last = first;
  last.add(count, 1);
  last.constant = wrap_sub(last.constant, 1);
  Ranges extended = with(name, {simplifier.bounds(first).low, simplifier.bounds(last).high});
  if (!first.is_constant()) {
    IndexSum distance = first;
    distance.add(var(name), -1);
    extended.learn_bound(distance, {Interval::kLowest, 0});
  }
  if (!last.is_constant()) {
    IndexSum distance;
    distance.add(var(name), 1);
    distance.add(last, -1);
    extended.learn_bound(distance, {Interval::kLowest, 0});
  }
  return extended;
}

Interval Ranges::of(std::string_view name) const {
  for (const auto* v = variables_.get(); v; v = v->next.get()) {
    if (v->name == name) return v->interval;
  }
  return {};
}

// Records sum in [low, high]: as the interval of a variable where it can be, else as a fact.
void Ranges::learn_bound(const IndexSum& sum, Interval interval) {
  if (sum.is_constant()) return;
  IndexSum normal;
  const std::int64_t content = sum.content();
  if (content <= 0) return;
  const bool flip = sum.terms[0].coefficient < 0;
  for (const Term& term : sum.terms) {
    normal.terms.push_back(
        {term.atom, flip ? -(term.coefficient / content) : term.coefficient / content});
  }
  interval = interval - Interval::point(sum.constant);
  if (flip) interval = Interval::point(0) - interval;
  // content * normal in interval: the low end rounds up, the high end down.
  if (interval.low != Interval::kLowest) {
    interval.low = wrap_sub(0, floor_div(wrap_sub(0, interval.low), content));
  }
  if (interval.high != Interval::kHighest) interval.high = floor_div(interval.high, content);

  // Every variable of the sum is bounded by the sum and the other terms.
  const Ranges before = *this;
  const Simplifier simplifier(before);
  for (const Term& term : normal.terms) {
    const auto* v = as<Var>(term.atom);
    if (!v) continue;
    Interval rest = interval;
    for (const Term& other : normal.terms) {
      if (&other != &term) rest = rest - simplifier.bounds(other.atom) * other.coefficient;
    }
    if (term.coefficient < 0) rest = Interval::point(0) - rest;
    const std::int64_t c = term.coefficient < 0 ? -term.coefficient : term.coefficient;
    if (rest.low != Interval::kLowest) {
      rest.low = wrap_sub(0, floor_div(wrap_sub(0, rest.low), c));
    }
    if (rest.high != Interval::kHighest) rest.high = floor_div(rest.high, c);
    const Interval old = of(v->name), tight = intersect(old, rest);
    if (tight != old) *this = with(v->name, tight);
  }
  // p - min(a, b) <= q means p - a <= q and p - b <= q.
  for (const Term& term : normal.terms) {
    const auto* x = as<Binary>(term.atom);
    if (!x || (x->op != BinOp::Min && x->op != BinOp::Max)) continue;
    const bool from_above = (x->op == BinOp::Max) == (term.coefficient > 0);
    const Interval end = from_above ? Interval{Interval::kLowest, interval.high}
                                    : Interval{interval.low, Interval::kHighest};
    if (end == Interval{}) continue;
    for (const Expr& side : {x->lhs, x->rhs}) {
      IndexSum opened = normal;
      opened.add(term.atom, wrap_mul(term.coefficient, -1));
      opened.add(sum_of(side), term.coefficient);
      learn_bound(opened, end);
    }
  }
  if (normal.terms.size() > 1 || !as<Var>(normal.terms[0].atom)) {
    facts_ = std::make_shared<const Fact>(Fact{std::move(normal), interval, facts_});
  }
}

Interval bounds_of(const Expr& e, const Ranges& ranges) {
  CHECK(e.type() == kIndex, "bounds are of i64 scalars");
  const Simplifier simplifier(ranges);
  return simplifier.bounds(simplifier.index(e));
}

}  // namespace attune::ir

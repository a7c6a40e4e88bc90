// Division and remainder by constants. Both round towards minus infinity, so that for any integers
// and d > 0: (d*q + r) / d = q + r / d, and (d*q + r) % d = r % d. With a divisor g of d and
// 0 <= r < g also (g*a + r) / d = a / (d/g) and (g*a + r) % d = g * (a % (d/g)) + r.
#include <algorithm>
#include <numeric>

#include "compiler/ir/simplify/simplifier.h"

namespace attune::ir {
namespace {

struct ConstantDivision {
  Expr value;
  std::int64_t divisor;
};

// The parts of x / d or x % d with a constant d > 0.
std::optional<ConstantDivision> constant_division(const Expr& e, BinOp op) {
  const auto* x = as<Binary>(e);
  if (!x || x->op != op) return std::nullopt;
  const auto* divisor = as_int(x->rhs);
  if (!divisor || *divisor <= 0) return std::nullopt;
  return ConstantDivision{x->lhs, *divisor};
}

IndexSum negated(const IndexSum& form) {
  IndexSum result;
  result.add(form, -1);
  return result;
}

}  // namespace

// Finds the greatest step among the divisors that the coefficients share with `divisor` (any step
// for divisor 0), such that the terms it does not divide stay within one step.
std::optional<Simplifier::Coarse> Simplifier::coarsen(const IndexSum& form,
                                                      std::int64_t divisor) const {
  std::vector<std::int64_t> steps;
  std::int64_t shared = 0;
  for (const Term& term : form.terms) {
    if (term.coefficient == Interval::kLowest) return std::nullopt;
    const std::int64_t step = std::gcd(term.coefficient, divisor);
    if (step == 1) continue;
    steps.push_back(step);
    shared = std::gcd(shared, step);
  }
  if (steps.empty()) return std::nullopt;
  if (shared > 1) steps.push_back(shared);
  std::sort(steps.begin(), steps.end(), std::greater<>{});
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  for (const std::int64_t step : steps) {
    Coarse result{step, {}, {}};
    for (const Term& term : form.terms) {
      if (term.coefficient % step == 0) {
        result.coarse.terms.push_back({term.atom, term.coefficient / step});
      } else {
        result.rest.terms.push_back(term);
      }
    }
    result.coarse.constant = floor_div(form.constant, step);
    result.rest.constant = floor_mod(form.constant, step);
    std::int64_t carried = 0;
    if (!result.rest.terms.empty() && !single_quotient(bounds(result.rest), step, carried)) {
      continue;
    }
    result.coarse.constant = wrap_add(result.coarse.constant, carried);
    result.rest.constant -= carried * step;
    return result;
  }
  return std::nullopt;
}

IndexSum Simplifier::quotient(const IndexSum& form, std::int64_t divisor) const {
  if (divisor < 0) return quotient(negated(form), -divisor);
  if (divisor == 1) return form;
  IndexSum whole, rest;
  for (const Term& term : form.terms) {
    if (term.coefficient % divisor == 0) {
      whole.terms.push_back({term.atom, term.coefficient / divisor});
    } else {
      rest.terms.push_back(term);
    }
  }
  whole.constant = floor_div(form.constant, divisor);
  rest.constant = floor_mod(form.constant, divisor);
  if (rest.is_constant()) return whole;
  std::int64_t carried = 0;
  if (single_quotient(bounds(rest), divisor, carried)) {
    whole.constant += carried;
    return whole;
  }
  if (const auto coarse = coarsen(rest, divisor)) {
    whole.add(quotient(coarse->coarse, divisor / coarse->step), 1);
    return whole;
  }
  if (rest.terms.size() == 1 && rest.terms[0].coefficient == 1) {
    const Expr& atom = rest.terms[0].atom;
    // (x / b + c) / d = (x + b*c) / (b*d)
    const auto inner = constant_division(atom, BinOp::Div);
    std::int64_t product = 0;
    if (inner && !__builtin_mul_overflow(inner->divisor, divisor, &product)) {
      IndexSum numerator = sum_of(inner->value);
      numerator.constant = wrap_add(numerator.constant, wrap_mul(rest.constant, inner->divisor));
      whole.add(quotient(numerator, product), 1);
      return whole;
    }
    // (x % m) / d = (x / d) % (m / d) where d divides m
    const auto modulo = constant_division(atom, BinOp::Mod);
    if (modulo && rest.constant == 0 && modulo->divisor % divisor == 0) {
      const IndexSum steps = quotient(sum_of(modulo->value), divisor);
      whole.add(remainder(steps, modulo->divisor / divisor), 1);
      return whole;
    }
  }
  whole.add(to_expr(rest) / int_imm(divisor), 1);
  return whole;
}

IndexSum Simplifier::remainder(const IndexSum& form, std::int64_t divisor) const {
  if (divisor < 0) return negated(remainder(negated(form), -divisor));
  IndexSum rest;
  if (divisor == 1) return rest;
  std::int64_t carried = 0;
  if (single_quotient(bounds(form), divisor, carried)) {
    rest = form;
    rest.constant -= carried * divisor;
    return rest;
  }
  bool nested = false;
  for (const Term& term : form.terms) {
    const std::int64_t c = floor_mod(term.coefficient, divisor);
    if (c == 0) continue;
    rest.terms.push_back({term.atom, c});
    const auto inner = constant_division(term.atom, BinOp::Mod);
    nested |= inner && wrap_mul(c, inner->divisor) % divisor == 0;
  }
  rest.constant = floor_mod(form.constant, divisor);
  if (rest.is_constant()) return rest;
  if (single_quotient(bounds(rest), divisor, carried)) {
    rest.constant -= carried * divisor;
    return rest;
  }
  if (nested) {
    // c * (x % m) differs from c * x by a multiple of c * m
    IndexSum opened;
    opened.constant = rest.constant;
    for (const Term& term : rest.terms) {
      const auto inner = constant_division(term.atom, BinOp::Mod);
      if (inner && wrap_mul(term.coefficient, inner->divisor) % divisor == 0) {
        opened.add(sum_of(inner->value), term.coefficient);
      } else {
        opened.add(term.atom, term.coefficient);
      }
    }
    return remainder(opened, divisor);
  }
  if (const auto coarse = coarsen(rest, divisor)) {
    IndexSum result = coarse->rest;
    result.add(remainder(coarse->coarse, divisor / coarse->step), coarse->step);
    return result;
  }
  IndexSum result;
  result.add(to_expr(rest) % int_imm(divisor), 1);
  return result;
}

// Joins quotients and remainders of the same division:
//   k * (x % d) + k*d * (x / d) = k * x      and      k * x - k*d * (x / d) = k * (x % d).
void Simplifier::join_quotients(IndexSum& form) const {
  if (form.terms.size() < 2) return;
  // Every join removes a division; the limit is for sums no program has.
  for (int joins = 0; joins < 16 && join_one(form); ++joins) {
  }
}

bool Simplifier::join_one(IndexSum& form) const {
  for (const Term& term : form.terms) {
    const auto division = constant_division(term.atom, BinOp::Div);
    if (!division) continue;
    const std::int64_t d = division->divisor;
    if (term.coefficient % d != 0) continue;
    const std::int64_t k = term.coefficient / d;
    const IndexSum numerator = sum_of(division->value);
    const IndexSum rest = remainder(numerator, d);
    const auto has = [&](const IndexSum& part, std::int64_t factor) {
      return !part.is_constant() &&
             std::all_of(part.terms.begin(), part.terms.end(), [&](const Term& t) {
               return form.coefficient_of(t.atom) == wrap_mul(t.coefficient, factor);
             });
    };
    const bool whole = has(rest, k);
    if (!whole && !has(numerator, -k)) continue;
    // Either way k*d * (x / d) is replaced by k * x - k * (x % d).
    const Expr atom = term.atom;
    form.add(atom, wrap_mul(k * d, -1));
    form.add(numerator, k);
    form.add(rest, -k);
    return true;
  }
  // x % d may have been split from a quotient of quotients: k * ((x/4) % 3) + 3*k * (x / 12).
  for (const Term& term : form.terms) {
    const auto modulo = constant_division(term.atom, BinOp::Mod);
    if (!modulo) continue;
    const IndexSum numerator = sum_of(modulo->value);
    const IndexSum division = quotient(numerator, modulo->divisor);
    if (division.terms.size() != 1 || division.terms[0].coefficient != 1) continue;
    const std::int64_t k = term.coefficient, scaled = wrap_mul(k, modulo->divisor);
    if (form.coefficient_of(division.terms[0].atom) != scaled) continue;
    const Expr atom = term.atom;
    form.add(atom, wrap_mul(k, -1));
    form.add(division, wrap_mul(scaled, -1));
    form.add(numerator, k);
    return true;
  }
  return false;
}

}  // namespace attune::ir

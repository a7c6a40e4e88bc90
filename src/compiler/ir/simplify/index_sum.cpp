#include "compiler/ir/simplify/index_sum.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>

#include "base/match.h"
#include "compiler/ir/simplify/interval.h"

namespace attune::ir {
namespace {

template <typename T>
int three_way(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

int compare_lists(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (a.size() != b.size()) return three_way(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (int order = compare(a[i], b[i])) return order;
  }
  return 0;
}

int compare_types(DType a, DType b) {
  if (a == b) return 0;
  if (a.kind != b.kind) return three_way(a.kind, b.kind);
  if (a.bits != b.bits) return three_way(a.bits, b.bits);
  return three_way(a.lanes, b.lanes);
}

int compare_pairs(const Expr& a0, const Expr& a1, const Expr& b0, const Expr& b1) {
  const int order = compare(a0, b0);
  return order ? order : compare(a1, b1);
}

// Two nodes of the same alternative.
int compare_kinds(const Expr& a, const Expr& b) {
  return std::visit(
      Match{
          [&](const IntImm& x) { return three_way(x.value, as<IntImm>(b)->value); },
          [&](const FloatImm& x) {
            return three_way(std::bit_cast<std::uint64_t>(x.value),
                             std::bit_cast<std::uint64_t>(as<FloatImm>(b)->value));
          },
          [&](const Var& x) { return x.name.compare(as<Var>(b)->name); },
          [&](const Binary& x) {
            const auto& y = *as<Binary>(b);
            if (x.op != y.op) return three_way(x.op, y.op);
            return compare_pairs(x.lhs, x.rhs, y.lhs, y.rhs);
          },
          [&](const Math& x) {
            const auto& y = *as<Math>(b);
            return x.fn != y.fn ? three_way(x.fn, y.fn) : compare_lists(x.args, y.args);
          },
          [&](const Select& x) {
            const auto& y = *as<Select>(b);
            const int order = compare(x.condition, y.condition);
            return order ? order : compare_pairs(x.if_true, x.if_false, y.if_true, y.if_false);
          },
          [&](const Cast& x) { return compare(x.value, as<Cast>(b)->value); },
          [&](const Load& x) {
            const auto& y = *as<Load>(b);
            if (x.buffer != y.buffer) {
              const int order = x.buffer->name.compare(y.buffer->name);
              return order ? order : (std::less<>{}(x.buffer, y.buffer) ? -1 : 1);
            }
            return compare_lists(x.index, y.index);
          },
          [&](const Ramp& x) {
            const auto& y = *as<Ramp>(b);
            return compare_pairs(x.base, x.stride, y.base, y.stride);
          },
          [&](const Broadcast& x) { return compare(x.value, as<Broadcast>(b)->value); },
          [&](const VectorReduce& x) {
            const auto& y = *as<VectorReduce>(b);
            return x.op != y.op ? three_way(x.op, y.op) : compare(x.value, y.value);
          },
          [&](const Opaque& x) {
            const auto& y = *as<Opaque>(b);
            const int order = x.name.compare(y.name);
            return order ? order : compare_lists(x.args, y.args);
          },
      },
      a->kind);
}

void gather(const Expr& e, std::int64_t factor, IndexSum& out) {
  if (const auto* imm = as<IntImm>(e)) {
    out.constant = wrap_add(out.constant, wrap_mul(factor, imm->value));
    return;
  }
  if (const auto* x = as<Binary>(e)) {
    if (x->op == BinOp::Add || x->op == BinOp::Sub) {
      gather(x->lhs, factor, out);
      gather(x->rhs, x->op == BinOp::Add ? factor : wrap_mul(factor, -1), out);
      return;
    }
    if (x->op == BinOp::Mul) {
      if (const auto* c = as_int(x->rhs)) return gather(x->lhs, wrap_mul(factor, *c), out);
      if (const auto* c = as_int(x->lhs)) return gather(x->rhs, wrap_mul(factor, *c), out);
    }
  }
  out.add(e, factor);
}

std::uint64_t magnitude(std::int64_t c) {
  return c < 0 ? 0 - static_cast<std::uint64_t>(c) : static_cast<std::uint64_t>(c);
}

}  // namespace

int compare(const Expr& a, const Expr& b) {
  if (a.same(b)) return 0;
  if (a->kind.index() != b->kind.index()) return three_way(a->kind.index(), b->kind.index());
  const int order = compare_types(a.type(), b.type());
  return order ? order : compare_kinds(a, b);
}

void IndexSum::add(const Expr& atom, std::int64_t coefficient) {
  if (coefficient == 0) return;
  // Sums are short, and mostly built in ascending order: look from the end.
  auto place = terms.end();
  while (place != terms.begin()) {
    const int order = compare(std::prev(place)->atom, atom);
    if (order < 0) break;
    --place;
    if (order == 0) {
      place->coefficient = wrap_add(place->coefficient, coefficient);
      if (place->coefficient == 0) terms.erase(place);
      return;
    }
  }
  terms.insert(place, Term{atom, coefficient});
}

void IndexSum::add(const IndexSum& other, std::int64_t factor) {
  for (const Term& term : other.terms) add(term.atom, wrap_mul(term.coefficient, factor));
  constant = wrap_add(constant, wrap_mul(other.constant, factor));
}

std::int64_t IndexSum::coefficient_of(const Expr& atom) const {
  for (const Term& term : terms) {
    if (compare(term.atom, atom) == 0) return term.coefficient;
  }
  return 0;
}

std::int64_t IndexSum::content() const {
  std::uint64_t divisor = 0;
  for (const Term& term : terms) divisor = std::gcd(divisor, magnitude(term.coefficient));
  return static_cast<std::int64_t>(divisor);
}

bool operator==(const IndexSum& a, const IndexSum& b) {
  return a.constant == b.constant && std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(),
                                                b.terms.end(), [](const Term& x, const Term& y) {
                                                  return x.coefficient == y.coefficient &&
                                                         compare(x.atom, y.atom) == 0;
                                                });
}

IndexSum sum_of(const Expr& e) {
  IndexSum form;
  gather(e, 1, form);
  return form;
}

Expr to_expr(const IndexSum& form) {
  if (form.terms.empty()) return int_imm(form.constant);
  std::vector<const Term*> order;
  order.reserve(form.terms.size());
  for (const Term& term : form.terms) order.push_back(&term);
  std::stable_sort(order.begin(), order.end(), [](const Term* a, const Term* b) {
    if ((a->coefficient < 0) != (b->coefficient < 0)) return a->coefficient > 0;
    return magnitude(a->coefficient) > magnitude(b->coefficient);
  });
  Expr sum;
  std::int64_t constant = form.constant;
  // A difference reads better than a product with a negative number.
  if (order[0]->coefficient < 0 && constant > 0) sum = int_imm(std::exchange(constant, 0));
  for (const Term* term : order) {
    const std::int64_t c = term->coefficient;
    const bool subtract = bool(sum) && c < 0 && c != Interval::kLowest;
    const std::int64_t factor = subtract ? -c : c;
    Expr product = factor == 1 ? term->atom : binary(BinOp::Mul, term->atom, int_imm(factor));
    sum = !sum ? product : binary(subtract ? BinOp::Sub : BinOp::Add, sum, product);
  }
  if (constant > 0 || constant == Interval::kLowest) return sum + int_imm(constant);
  return constant < 0 ? sum - int_imm(-constant) : sum;
}

}  // namespace attune::ir

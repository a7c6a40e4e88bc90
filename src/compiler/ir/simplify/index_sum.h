// The canonical form of index arithmetic: a sum of coefficient * atom plus a constant. Atoms are
// whatever is not itself a sum or a product with a constant: variables, divisions, minima, loads
// and so on, in an order that depends on their structure alone.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/nodes/expr.h"

namespace attune::ir {

// A total order on expressions by structure: negative, zero or positive.
int compare(const Expr& a, const Expr& b);

struct Term {
  Expr atom;
  std::int64_t coefficient;
};

struct IndexSum {
  std::vector<Term> terms;  // atoms ascending, each once, no coefficient 0
  std::int64_t constant = 0;

  bool is_constant() const { return terms.empty(); }
  void add(const Expr& atom, std::int64_t coefficient);
  void add(const IndexSum& other, std::int64_t factor);
  // The coefficient of an atom, 0 when it does not occur.
  std::int64_t coefficient_of(const Expr& atom) const;
  // Greatest common divisor of the coefficients, 0 without terms.
  std::int64_t content() const;
};

bool operator==(const IndexSum& a, const IndexSum& b);

// Reads an i64 scalar as a sum, its atoms unchanged.
IndexSum sum_of(const Expr& e);
// Large coefficients first, what is subtracted after what is added, the constant last.
Expr to_expr(const IndexSum& form);

}  // namespace attune::ir

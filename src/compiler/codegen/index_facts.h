// What can be proved about integer index expressions at compile time: ranges, divisors, the form
// base + lane * stride of vector indices, and the linear form that addresses are computed from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/nodes/expr.h"

namespace attune::codegen {

// min <= value <= max; both ends are far inside the i64 range, so sums of intervals stay exact.
struct Interval {
  std::int64_t min;
  std::int64_t max;
};

struct VarFacts {
  std::optional<Interval> range;
  std::int64_t divisor = 1;  // every value is a multiple of it
  int depth = 0;             // of the binding loop or let, outermost first
};
using Facts = std::map<std::string, VarFacts, std::less<>>;

// Nothing when the range is not known. Of a vector expression: the range over all lanes.
std::optional<Interval> range_of(const ir::Expr& e, const Facts& facts);
// A positive number that divides every value of the scalar expression; a zero counts as 2^30.
std::int64_t divisor_of(const ir::Expr& e, const Facts& facts);

// A vector index as base + lane * stride, both scalar.
struct Strided {
  ir::Expr base;
  ir::Expr stride;
};
std::optional<Strided> as_strided(const ir::Expr& index);

// A scalar index as constant + sum of coefficient * term, terms of outer loops first, so that the
// sum up to any term is invariant in the loops inside of it.
struct LinearTerm {
  ir::Expr term;
  std::int64_t coefficient;
  friend bool operator==(const LinearTerm& a, const LinearTerm& b) {
    return a.coefficient == b.coefficient && ir::equal(a.term, b.term);
  }
};
struct LinearIndex {
  std::vector<LinearTerm> terms;
  std::int64_t constant = 0;
};
LinearIndex linearize(const ir::Expr& index, const Facts& facts);

// True when the expression can be evaluated although its guard is false: its loads stay inside
// their buffers and no division by zero can happen.
bool safe_to_speculate(const ir::Expr& e, const Facts& facts);

}  // namespace attune::codegen

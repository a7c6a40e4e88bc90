// The simplifier: turns index arithmetic into a canonical sum of products, decides conditions, and
// removes what cannot happen, knowing the ranges of variables and the conditions that hold. Rules
// for floats are exact: x * 0 stays, sums are not reordered. Index arithmetic is taken not to
// overflow.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/ir/nodes/stmt.h"
#include "compiler/ir/simplify/index_sum.h"
#include "compiler/ir/simplify/interval.h"

namespace attune::ir {

// What is known at a place: the interval of each variable, and conditions that hold. A value;
// extending it makes a new one that shares the old.
class Ranges {
 public:
  Ranges() = default;
  Ranges(std::initializer_list<std::pair<std::string, Interval>> variables);

  // Also knows that the variable lies in the interval. A name means one variable: a second one of
  // the same name must not have been mentioned in a condition.
  Ranges with(std::string name, Interval interval) const;
  // Also knows var in [min, min + extent).
  Ranges with_loop(const std::string& name, const Expr& min, const Expr& extent) const;
  // Also knows that the condition holds.
  Ranges assume(const Expr& condition) const;
  // Also knows that the condition does not hold.
  Ranges assume_not(const Expr& condition) const;

  // Unbounded for a variable that is not known.
  Interval of(std::string_view name) const;

 private:
  friend class Simplifier;
  struct Variable {
    std::string name;
    Interval interval;
    std::shared_ptr<const Variable> next;
  };
  // The sum of the terms lies within the interval.
  struct Fact {
    IndexSum sum;
    Interval interval;
    std::shared_ptr<const Fact> next;
  };
  // A condition that is not about sums and whether it holds.
  struct Known {
    Expr condition;
    bool holds;
    std::shared_ptr<const Known> next;
  };
  void learn(const Expr& condition, bool holds);
  void learn_bound(const IndexSum& sum, Interval interval);

  std::shared_ptr<const Variable> variables_;
  std::shared_ptr<const Fact> facts_;
  std::shared_ptr<const Known> known_;
};

// An interval that holds all values of an i64 scalar.
Interval bounds_of(const Expr& e, const Ranges& ranges);
Expr simplify(const Expr& e, const Ranges& ranges = {});
// Also removes loops that never run, replaces the variable of loops that run once, and decides
// conditions. The names of loop variables and lets are unique along every path.
Stmt simplify(const Stmt& s, const Ranges& ranges = {});
// True only if the condition holds for all values in the ranges.
bool prove(const Expr& condition, const Ranges& ranges = {});

}  // namespace attune::ir

// The inside of simplify.h: one Simplifier works with one set of ranges. Scalars of the index type
// travel as IndexSum forms, everything else as expressions.
#pragma once

#include <optional>

#include "compiler/ir/simplify/simplify.h"

namespace attune::ir {

class Simplifier {
 public:
  explicit Simplifier(const Ranges& ranges) : ranges_(ranges) {}

  Expr expr(const Expr& e) const;
  // The canonical form of an i64 scalar.
  IndexSum index(const Expr& e) const;

  // The bounds of a canonical form or expression.
  Interval bounds(const IndexSum& form) const;
  Interval bounds(const Expr& e) const;

  IndexSum quotient(const IndexSum& form, std::int64_t divisor) const;
  IndexSum remainder(const IndexSum& form, std::int64_t divisor) const;

  // `form op 0` for a comparison op.
  Expr compare_zero(BinOp op, const IndexSum& form) const;
  Expr logical_not(const Expr& condition) const;

 private:
  // A form written as step * coarse + rest with 0 <= rest < step.
  struct Coarse {
    std::int64_t step;
    IndexSum coarse, rest;
  };
  std::optional<Coarse> coarsen(const IndexSum& form, std::int64_t divisor) const;

  Expr rebuild(const Expr& e) const;  // simplifies the children only
  Expr scalar_binary(const Expr& e) const;
  Expr scalar_select(const Expr& e) const;
  Expr condition(const Expr& e) const;
  Expr connective(const Binary& x) const;
  Expr known(const Expr& condition) const;
  Expr less_than_zero(const IndexSum& form) const;
  Expr equal_zero(const IndexSum& form, bool negated) const;

  void accumulate(const Expr& e, std::int64_t factor, IndexSum& out) const;
  void accumulate_binary(const Expr& e, std::int64_t factor, IndexSum& out) const;
  void accumulate_extremum(const Binary& x, std::int64_t factor, IndexSum& out) const;
  void accumulate_select(const Select& x, std::int64_t factor, IndexSum& out) const;
  IndexSum divide(BinOp op, const IndexSum& a, const IndexSum& b) const;
  void join_quotients(IndexSum& form) const;
  bool join_one(IndexSum& form) const;
  Interval bounds_of_binary(const Binary& x) const;
  Interval bounds_by_facts(const IndexSum& form) const;
  Interval bounds_by_cases(const IndexSum& form, int depth) const;

  // Vectors: a Ramp or a Broadcast (stride 0) as base + lane * stride.
  struct Affine {
    IndexSum base, stride;
  };
  Expr vector(const Expr& e) const;
  Expr vector_binary(const Binary& x, const Expr& e) const;
  Expr vector_load(const Load& x, const Expr& e) const;
  Expr vector_index(BinOp op, const Affine& a, const Affine& b, int lanes) const;
  Expr vector_divide(BinOp op, const Affine& a, std::int64_t divisor, int lanes) const;
  std::optional<Affine> affine_of(const Expr& e) const;
  Expr from_affine(const Affine& a, int lanes) const;

  const Ranges& ranges_;
};

}  // namespace attune::ir

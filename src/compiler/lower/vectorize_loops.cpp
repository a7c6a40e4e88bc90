// A vectorised loop of n iterations becomes statements on vectors: its variable is replaced by a
// ramp, and everything that depends on it grows lanes. Lane counts that are no power of two are cut
// into powers of two, unless vectors are loaded and stored under a mask: then a tail is one of
// them, and takes one register where its parts would take several. What has no vector form (a
// condition or a loop range that differs between lanes, a private buffer per lane) makes the loop
// run lane by lane instead.
#include <algorithm>
#include <optional>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/lower/statement_passes.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Stmt;

constexpr std::int64_t kMaxLanes = 64;
constexpr std::int64_t kMostMasked = 16;  // lanes of f32 in the widest vectors

Expr widen(const Expr& e, int lanes) {
  return e.type().lanes == lanes ? e : ir::broadcast(e, lanes);
}

class Vectorizer {
 public:
  Vectorizer(std::string variable, Expr ramp)
      : variable_(std::move(variable)), ramp_(std::move(ramp)) {}

  std::optional<Stmt> stmt(const Stmt& s) {
    ok_ = true;
    Stmt result = visit(s);
    return ok_ ? std::optional(result) : std::nullopt;
  }

 private:
  int lanes() const { return ramp_.type().lanes; }
  bool varies(const Expr& e) const { return ir::uses_var(e, variable_); }

  Expr expr(const Expr& e) {
    if (const auto* v = ir::as<ir::Var>(e)) return v->name == variable_ ? ramp_ : e;
    if (!varies(e)) return e;
    if (!e.type().is_scalar()) {  // an inner loop is vectorised already
      ok_ = false;
      return e;
    }
    if (const auto* select = ir::as<ir::Select>(e)) {
      Expr condition = expr(select->condition);
      Expr a = expr(select->if_true), b = expr(select->if_false);
      const int n = std::max({condition.type().lanes, a.type().lanes, b.type().lanes});
      return ir::select(condition, widen(a, n), widen(b, n));
    }
    if (const auto* math = ir::as<ir::Math>(e); math && math->fn != ir::MathFn::Bitcast) {
      std::vector<Expr> args;
      for (const Expr& arg : math->args) args.push_back(widen(expr(arg), lanes()));
      return ir::math(math->fn, std::move(args));
    }
    if (ir::as<ir::Opaque>(e) || ir::as<ir::VectorReduce>(e)) {
      ok_ = false;
      return e;
    }
    return ir::map_children(e, [&](const Expr& child) { return expr(child); });
  }

  // The value of a store whose index does not depend on the loop: itself scalar, or a step
  // `accumulator op term` of a reduction over the lanes.
  Expr combine_lanes(const ir::Store& st) {
    if (!varies(st.value)) return st.value;
    const auto* step = ir::as<ir::Binary>(st.value);
    const auto* accumulator = step ? ir::as<ir::Load>(step->lhs) : nullptr;
    const bool reduces = accumulator && accumulator->buffer == st.buffer && !varies(step->lhs) &&
                         (step->op == ir::BinOp::Add || step->op == ir::BinOp::Mul ||
                          step->op == ir::BinOp::Min || step->op == ir::BinOp::Max);
    if (!reduces) {
      ok_ = false;
      return st.value;
    }
    return ir::binary(step->op, step->lhs, ir::vector_reduce(step->op, expr(step->rhs)));
  }

  Stmt visit(const Stmt& s) {
    if (const auto* st = ir::as<ir::Store>(s)) {
      std::vector<Expr> index;
      bool vector_index = false;
      ok_ &= st->value.type().is_scalar();
      for (const Expr& i : st->index) {
        index.push_back(expr(i));
        vector_index |= index.back().type().lanes > 1;
      }
      if (!ok_) return s;
      if (!vector_index) return ir::store(st->buffer, index, combine_lanes(*st));
      Expr value = expr(st->value);
      return ir::store(st->buffer, index, widen(value, lanes()));
    }
    if (const auto* loop = ir::as<ir::For>(s)) {
      ok_ &= !varies(loop->min) && !varies(loop->extent);
    } else if (const auto* branch = ir::as<ir::If>(s)) {
      ok_ &= !varies(branch->condition);
    } else if (const auto* binding = ir::as<ir::LetStmt>(s)) {
      ok_ &= !varies(binding->value);
    } else if (ir::as<ir::Allocate>(s) || ir::as<ir::Barrier>(s) || ir::as<ir::Evaluate>(s)) {
      ok_ = false;
    }
    if (!ok_) return s;
    return ir::map_children(
        s, [&](const Stmt& child) { return visit(child); }, [&](const Expr& e) { return expr(e); });
  }

  std::string variable_;
  Expr ramp_;
  bool ok_ = true;
};

Stmt serial(const ir::For& loop) {
  ir::For copy = loop;
  copy.kind = ir::LoopKind::Serial;
  return ir::make_stmt(std::move(copy));
}

// The fewest bytes of an element that the statement moves.
int smallest_element(const Stmt& s) {
  int least = 64;
  const auto add = [&](const ir::Buffer& buffer) {
    least = std::min(least, static_cast<int>(buffer->type.element_bytes()));
  };
  ir::visit(
      s,
      [&](const Stmt& part) {
        if (const auto* store = ir::as<ir::Store>(part)) add(store->buffer);
      },
      [&](const Expr& part) {
        if (const auto* load = ir::as<ir::Load>(part)) add(load->buffer);
      });
  return least;
}

// Lanes of the next vector, of so many iterations that are left.
std::int64_t next_lanes(std::int64_t left, bool masked) {
  if (masked && left < kMostMasked) return left;
  std::int64_t lanes = kMaxLanes;
  while (lanes > left) lanes /= 2;
  return lanes;
}

Stmt vectorize(const ir::For& loop, const VectorForm& form) {
  const auto* extent = ir::as_int(loop.extent);
  if (!extent) return serial(loop);
  std::vector<Stmt> pieces;
  const bool masked = form.masked_bytes > 0 && smallest_element(loop.body) >= form.masked_bytes;
  for (std::int64_t done = 0; done < *extent;) {
    const std::int64_t lanes = next_lanes(*extent - done, masked);
    const Expr start = ir::simplify(loop.min + Expr(done));
    if (lanes == 1) {
      pieces.push_back(ir::substitute(loop.body, {{loop.var, start}}));
    } else {
      const Expr ramp = ir::ramp(start, Expr(1), static_cast<int>(lanes));
      auto piece = Vectorizer(loop.var, ramp).stmt(loop.body);
      if (!piece) return serial(loop);
      pieces.push_back(*piece);
    }
    done += lanes;
  }
  return ir::block(std::move(pieces));
}

}  // namespace

Stmt vectorize_loops(const Stmt& s, const VectorForm& form) {
  const Stmt mapped = ir::map_children(
      s, [&](const Stmt& child) { return vectorize_loops(child, form); },
      [](const Expr& e) { return e; });
  const auto* loop = ir::as<ir::For>(mapped);
  return loop && loop->kind == ir::LoopKind::Vectorized ? vectorize(*loop, form) : mapped;
}

}  // namespace attune::lower

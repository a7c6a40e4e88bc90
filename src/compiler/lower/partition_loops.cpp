// Loop partition. A condition k*v + r >= 0 inside of a loop over v, with r bounded over the inner
// loops, holds for all v of one interval. The loop is split there: the main part has no condition,
// the iterations before and after it stand apart, one by one when they are few. Outer loops are
// split first; the pieces are simplified and their inner loops treated in turn. Parallel loops stay
// one loop that chooses between the pieces, and so do named parts of fused loops.
#include <algorithm>
#include <set>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/lower/conditions.h"
#include "compiler/lower/statement_passes.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Interval;
using ir::Stmt;

constexpr std::int64_t kPeeled = 2;  // edge iterations on one side that are written out one by one
constexpr int kMaxDepth = 6;         // nested partitions: bounds the growth of the code
constexpr std::int64_t kWrittenOut = 64;  // edge iterations of unrolled loops

struct Zone {
  std::int64_t begin, end;
  bool empty() const { return begin >= end; }
};

// Collects, for a loop over `variable`, the interval of v in which each condition holds whatever
// the inner loops do.
class ZoneFinder {
 public:
  ZoneFinder(std::string variable, bool unrolled, Zone zone, ir::Ranges ranges)
      : variable_(std::move(variable)),
        lanes_only_(unrolled),
        main_(zone),
        ranges_(std::move(ranges)) {}

  void scan(const Stmt& s) {
    if (const auto* loop = ir::as<ir::For>(s)) {
      scan_expr(loop->min), scan_expr(loop->extent);
      const ir::Ranges saved = ranges_;
      ranges_ = ranges_.with_loop(loop->var, loop->min, loop->extent);
      if (loop->kind == ir::LoopKind::Vectorized) lanes_.insert(loop->var);
      scan(loop->body);
      ranges_ = saved;
      return;
    }
    if (const auto* branch = ir::as<ir::If>(s)) {
      for (const Expr& part : conjuncts(branch->condition)) consider(part);
    }
    ir::map_children(
        s,
        [&](const Stmt& child) {
          scan(child);
          return child;
        },
        [&](const Expr& e) {
          scan_expr(e);
          return e;
        });
  }

  Zone main() const { return main_; }

 private:
  void scan_expr(const Expr& e) {
    ir::visit(e, [&](const Expr& node) {
      if (const auto* select = ir::as<ir::Select>(node)) {
        for (const Expr& part : conjuncts(select->condition)) consider(part);
      }
    });
  }

  void consider(const Expr& condition) {
    const auto form = at_least_zero(condition);
    const std::int64_t k = form ? form->coefficient(variable_) : 0;
    if (k == 0 || (lanes_only_ && !mentions_lanes(*form))) return;
    const ir::Linear rest = ir::add(*form, {{{variable_, 1}}, 0}, -k);
    const Interval bounds = ir::bounds_of(rest.to_expr(), ranges_);
    const Zone holds = bounds.low == Interval::kLowest ? Zone{0, 0} : where(k, bounds.low);
    if (!holds.empty()) {
      main_ = holds;
      return;
    }
    // Nowhere certain to hold: stand apart where it may hold, the main part is where it fails.
    const Zone may_hold = bounds.high == Interval::kHighest ? main_ : where(k, bounds.high);
    const Zone fails = k > 0 ? Zone{main_.begin, may_hold.begin} : Zone{may_hold.end, main_.end};
    if (!may_hold.empty() && !fails.empty()) main_ = fails;
  }

  bool mentions_lanes(const ir::Linear& form) const {
    return std::any_of(form.terms.begin(), form.terms.end(),
                       [&](const auto& term) { return lanes_.count(term.first) > 0; });
  }

  // The part of the main zone in which k*v + rest >= 0.
  Zone where(std::int64_t k, std::int64_t rest) const {
    Zone zone = main_;
    if (k > 0) {
      zone.begin = std::max(zone.begin, -ir::floor_div(rest, k));
    } else {
      zone.end = std::min(zone.end, ir::floor_div(rest, -k) + 1);
    }
    return zone;
  }

  std::string variable_;
  bool lanes_only_;  // unrolled loops become constants anyway; only lanes need their help
  std::set<std::string> lanes_;
  Zone main_;
  ir::Ranges ranges_;
};

Stmt partition(const Stmt& s, const ir::Ranges& ranges, int depth);

Stmt with_range(const ir::For& loop, Zone zone) {
  ir::For copy = loop;
  copy.min = Expr(zone.begin);
  copy.extent = Expr(zone.end - zone.begin);
  return ir::make_stmt(std::move(copy));
}

Stmt finish(const Stmt& piece, const ir::Ranges& ranges, int depth) {
  Stmt simple = ir::simplify(tighten_loops(hoist_guards(ir::simplify(piece, ranges))), ranges);
  return partition(simple, ranges, depth);
}

void add_edges(std::vector<Stmt>& pieces, const ir::For& loop, Zone zone, const ir::Ranges& ranges,
               int depth) {
  if (zone.empty()) return;
  // Unrolled loops are written out in any case; now their conditions can still be decided.
  const std::int64_t most = loop.kind == ir::LoopKind::Unrolled ? kWrittenOut : kPeeled;
  if (zone.end - zone.begin > most) {
    const ir::Ranges inside = ranges.with(loop.var, Interval{zone.begin, zone.end - 1});
    ir::For edge = *ir::as<ir::For>(with_range(loop, zone));
    edge.body = partition(ir::simplify(loop.body, inside), inside, depth);
    pieces.push_back(ir::make_stmt(std::move(edge)));
    return;
  }
  for (std::int64_t v = zone.begin; v < zone.end; ++v) {
    pieces.push_back(finish(ir::substitute(loop.body, {{loop.var, Expr(v)}}), ranges, depth));
  }
}

// What the variable, which keeps all of its values, decides at run time.
Stmt choose_at_run_time(const std::string& variable, const Stmt& whole, Zone main, Zone all,
                        const ir::Ranges& ranges, int depth) {
  const auto body_in = [&](Zone zone) {
    const ir::Ranges inside = ranges.with(variable, Interval{zone.begin, zone.end - 1});
    return finish(whole, inside, depth);
  };
  Stmt body = body_in(main);
  const Expr v = ir::var(variable);
  if (main.end < all.end) {
    body = ir::if_then(v < Expr(main.end), body, body_in({main.end, all.end}));
  }
  if (main.begin > all.begin) {
    body = ir::if_then(v >= Expr(main.begin), body, body_in({all.begin, main.begin}));
  }
  return body;
}

bool may_partition(const ir::For& loop, int depth) {
  const auto* min = ir::as_int(loop.min);
  const auto* extent = ir::as_int(loop.extent);
  if (!min || !extent || *extent < 2 || depth >= kMaxDepth) return false;
  return loop.kind != ir::LoopKind::Vectorized && loop.kind != ir::LoopKind::Bound;
}

Stmt partition_for(const Stmt& s, const ir::For& loop, const ir::Ranges& ranges, int depth) {
  const ir::Ranges inside = ranges.with_loop(loop.var, loop.min, loop.extent);
  const auto descend = [&] {
    ir::For copy = loop;
    copy.body = partition(loop.body, inside, depth);
    return copy.body.same(loop.body) ? s : ir::make_stmt(std::move(copy));
  };
  if (!may_partition(loop, depth)) return descend();
  const Zone all{*ir::as_int(loop.min), *ir::as_int(loop.min) + *ir::as_int(loop.extent)};
  ZoneFinder finder(loop.var, loop.kind == ir::LoopKind::Unrolled, all, inside);
  finder.scan(loop.body);
  const Zone main = finder.main();
  if (main.begin == all.begin && main.end == all.end) return descend();
  if (loop.kind == ir::LoopKind::Parallel) {
    ir::For copy = loop;
    copy.body = choose_at_run_time(loop.var, loop.body, main, all, ranges, depth + 1);
    return ir::make_stmt(std::move(copy));
  }
  std::vector<Stmt> pieces;
  add_edges(pieces, loop, {all.begin, main.begin}, ranges, depth + 1);
  pieces.push_back(finish(with_range(loop, main), ranges, depth));
  add_edges(pieces, loop, {main.end, all.end}, ranges, depth + 1);
  return ir::block(std::move(pieces));
}

Stmt partition_let(const Stmt& s, const ir::LetStmt& part, const ir::Ranges& ranges, int depth) {
  if (part.value.type() != ir::kIndex) {
    const Stmt body = partition(part.body, ranges, depth);
    return body.same(part.body) ? s : ir::let(part.var, part.value, body);
  }
  const Interval bounds = ir::bounds_of(part.value, ranges);
  const ir::Ranges inside = ranges.with(part.var, bounds);
  const bool bounded = bounds.low != Interval::kLowest && bounds.high != Interval::kHighest;
  if (bounded && depth < kMaxDepth) {
    const Zone all{bounds.low, bounds.high + 1};
    ZoneFinder finder(part.var, false, all, inside);
    finder.scan(part.body);
    const Zone main = finder.main();
    if (main.begin != all.begin || main.end != all.end) {
      return ir::let(part.var, part.value,
                     choose_at_run_time(part.var, part.body, main, all, ranges, depth + 1));
    }
  }
  const Stmt body = partition(part.body, inside, depth);
  return body.same(part.body) ? s : ir::let(part.var, part.value, body);
}

Stmt partition(const Stmt& s, const ir::Ranges& ranges, int depth) {
  if (const auto* loop = ir::as<ir::For>(s)) return partition_for(s, *loop, ranges, depth);
  if (const auto* part = ir::as<ir::LetStmt>(s)) return partition_let(s, *part, ranges, depth);
  return ir::map_children(
      s, [&](const Stmt& child) { return partition(child, ranges, depth); },
      [](const Expr& e) { return e; });
}

}  // namespace

Stmt partition_loops(const Stmt& s) { return partition(s, {}, 0); }

}  // namespace attune::lower

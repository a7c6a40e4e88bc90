// A loop with the note `claim stores` writes a zero to each cache line that the statements behind
// it will write. A line that another core has read since it was last written takes a store as long
// as ten others, and they come one after the other (asking for the line with intent to write does
// not help: it is there already); among the arithmetic of a loop that hardly stores, nobody waits
// for them. The lines are dealt out evenly over the iterations of the loop and of the loops right
// inside it. Only what is certainly written behind the loop, every element of it, is claimed.
#include <algorithm>
#include <optional>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/lower/statement_passes.h"
#include "compiler/schedule/state.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Stmt;

constexpr std::int64_t kLineBytes = 64;
// More than that would push out of the caches what is computed meanwhile.
constexpr std::int64_t kMostBytes = 384 * 1024;

// What is written: planes of elements in a row, the first one at `start`.
struct Region {
  ir::Buffer buffer;
  Expr start;
  std::int64_t planes = 1, stride = 0, span = 0;
};

struct Loop {
  const ir::For* loop;
  std::int64_t min, extent;
};

// One store: how far it begins behind the first one, and how far each loop around takes it.
struct Written {
  std::int64_t offset = 0, elements = 1;
  std::vector<Loop> loops = {};
  std::vector<std::int64_t> steps = {};  // of the loops

  // The largest distance that the loops from `first` on reach.
  std::int64_t reach(std::size_t first) const {
    std::int64_t sum = 0;
    for (std::size_t i = first; i < loops.size(); ++i) sum += steps[i] * (loops[i].extent - 1);
    return sum;
  }
};

class RegionFinder {
 public:
  std::optional<Region> find(const std::vector<Stmt>& stmts) {
    std::vector<Loop> around;
    for (const Stmt& s : stmts) visit(s, around);
    if (failed_ || all_.empty()) return {};
    region_.planes = 1;
    const std::size_t inner = has_planes() ? 1 : 0;
    std::int64_t low = 0, high = 0, elements = 0;
    for (const Written& each : all_) {
      low = std::min(low, each.offset);
      high = std::max(high, each.offset + each.reach(inner));
      elements += each.elements;
    }
    region_.span = high - low + 1;
    if (inner == 1) {
      region_.planes = all_.front().loops.front().extent;
      region_.stride = all_.front().steps.front();
      // Planes that overlap are no planes, and those within a line are not worth it.
      const std::int64_t bytes = region_.span * region_.buffer->type.element_bytes();
      if (region_.stride < region_.span || bytes < kLineBytes) return {};
    }
    if (low < 0) region_.start = ir::simplify(region_.start + Expr(low));
    // All of it is written, and nothing of it twice.
    if (elements != region_.planes * region_.span) return {};
    return region_;
  }

 private:
  void visit(const Stmt& s, std::vector<Loop>& around) {
    if (const auto* store = ir::as<ir::Store>(s)) return add(*store, around);
    const bool guarded = ir::as<ir::If>(s) != nullptr;
    guards_ += guarded ? 1 : 0;
    const auto* loop = ir::as<ir::For>(s);
    if (loop) {
      const auto *min = ir::as_int(loop->min), *extent = ir::as_int(loop->extent);
      // What is not known does not matter unless something is stored there.
      around.push_back({loop, min ? *min : 0, min && extent ? *extent : 0});
    }
    ir::map_children(
        s,
        [&](const Stmt& child) {
          visit(child, around);
          return child;
        },
        [](const Expr& e) { return e; });
    if (loop) around.pop_back();
    guards_ -= guarded ? 1 : 0;
  }

  void add(const ir::Store& store, const std::vector<Loop>& around) {
    if (store.buffer->scope != ir::Scope::Global || failed_) return;
    if (region_.buffer && region_.buffer != store.buffer) return;
    failed_ |= guards_ > 0;
    ir::Bindings first;
    for (const Loop& each : around) {
      failed_ |= each.extent == 0;
      first[each.loop->var] = Expr(each.min);
    }
    if (failed_) return;
    const Expr start = ir::simplify(ir::substitute(store.index[0], first));
    if (!region_.buffer) {
      region_.buffer = store.buffer;
      region_.start = start;
    }
    Written written{.loops = around};
    written.offset = difference(start, region_.start);
    for (const Loop& each : around) {
      ir::Bindings next = first;
      next[each.loop->var] = Expr(each.min + 1);
      written.steps.push_back(
          difference(ir::simplify(ir::substitute(store.index[0], next)), start));
      failed_ |= written.steps.back() < 0;
      written.elements *= each.extent;
    }
    all_.push_back(std::move(written));
  }

  std::int64_t difference(const Expr& a, const Expr& b) {
    const Expr distance = ir::simplify(a - b);
    const std::int64_t* known = ir::as_int(distance);
    failed_ |= known == nullptr;
    return known ? *known : 0;
  }

  // Whether one loop is around all stores and takes them all equally far, beyond all that lies in
  // it.
  bool has_planes() const {
    const Written& first = all_.front();
    if (first.loops.empty()) return false;
    return std::all_of(all_.begin(), all_.end(), [&](const Written& each) {
      return !each.loops.empty() && each.loops.front().loop == first.loops.front().loop &&
             each.steps.front() == first.steps.front() && each.reach(1) < each.steps.front();
    });
  }

  Region region_;
  std::vector<Written> all_;
  int guards_ = 0;  // around what is visited
  bool failed_ = false;
};

// Deals the lines of a region out over the steps of a loop.
class Dealer {
 public:
  Dealer(const Region& region, const ir::For& loop, std::int64_t rows)
      : region_(region), loop_(loop), rows_(rows) {
    line_ = std::max<std::int64_t>(1, kLineBytes / region.buffer->type.element_bytes());
    lines_ = (region.span + line_ - 1) / line_;
  }

  Stmt deal() {
    std::vector<Stmt> steps;
    split(loop_.body, steps);
    for (const Stmt& step : steps) {
      const auto* inner = inner_loop(step);
      in_row_ += inner ? *ir::as_int(inner->extent) : 1;
    }
    share_ = (lines_ + rows_ * in_row_ - 1) / (rows_ * in_row_);
    ir::For copy = loop_;
    copy.body = rebuild(loop_.body);
    return ir::make_stmt(std::move(copy));
  }

 private:
  // Loops whose iterations are steps of their own.
  static const ir::For* inner_loop(const Stmt& s) {
    const auto* loop = ir::as<ir::For>(s);
    const bool counts = loop && loop->kind == ir::LoopKind::Serial && ir::as_int(loop->min) &&
                        ir::as_int(loop->extent);
    return counts ? loop : nullptr;
  }

  static void split(const Stmt& s, std::vector<Stmt>& steps) {
    if (const auto* guard = ir::as<ir::If>(s); guard && !guard->else_body) {
      split(guard->then_body, steps);
    } else if (const auto* block = ir::as<ir::Block>(s)) {
      for (const Stmt& each : block->stmts) steps.push_back(each);
    } else {
      steps.push_back(s);
    }
  }

  Stmt rebuild(const Stmt& s) {
    if (const auto* guard = ir::as<ir::If>(s); guard && !guard->else_body) {
      return ir::if_then(guard->condition, rebuild(guard->then_body));
    }
    if (const auto* block = ir::as<ir::Block>(s)) {
      std::vector<Stmt> stmts;
      for (const Stmt& each : block->stmts) stmts.push_back(with_claims(each));
      return ir::block(std::move(stmts));
    }
    return with_claims(s);
  }

  Stmt with_claims(const Stmt& step) {
    const Expr row = ir::var(loop_.var) - loop_.min;
    const Expr before = row * Expr(in_row_) + Expr(passed_);
    const auto* inner = inner_loop(step);
    if (!inner) {
      ++passed_;
      return ir::block({claims(before), step});
    }
    passed_ += *ir::as_int(inner->extent);
    ir::For copy = *inner;
    copy.body = ir::block({claims(before + ir::var(inner->var) - inner->min), inner->body});
    return ir::make_stmt(std::move(copy));
  }

  // Those of the step with this number.
  Stmt claims(const Expr& number) const {
    const Expr plane = ir::var("claim_plane"), i = ir::var("claim_line");
    const Expr line = ir::min(number * Expr(share_) + i, Expr(lines_ - 1));
    const Expr at = region_.start + plane * Expr(region_.stride) + line * Expr(line_);
    const Stmt claim = ir::store(region_.buffer, {at}, ir::zero_of(region_.buffer->type));
    return ir::simplify(ir::for_loop("claim_plane", 0, region_.planes,
                                     ir::for_loop("claim_line", 0, share_, claim)));
  }

  const Region& region_;
  const ir::For& loop_;
  std::int64_t rows_, line_ = 1, lines_ = 0, in_row_ = 0, share_ = 0, passed_ = 0;
};

Stmt claimed(const ir::For& loop, const Stmt& s, const std::vector<Stmt>& behind) {
  const auto* rows = ir::as_int(loop.extent);
  const auto region = RegionFinder().find(behind);
  if (!rows || *rows < 1 || !region) return s;
  const std::int64_t bytes = region->planes * region->span * region->buffer->type.element_bytes();
  if (bytes > kMostBytes) return s;
  return Dealer(*region, loop, *rows).deal();
}

Stmt visit(const Stmt& s) {
  const auto* block = ir::as<ir::Block>(s);
  if (!block) {
    return ir::map_children(s, visit, [](const Expr& e) { return e; });
  }
  std::vector<Stmt> stmts;
  for (std::size_t i = 0; i < block->stmts.size(); ++i) {
    const auto* loop = ir::as<ir::For>(block->stmts[i]);
    if (loop && schedule::find_note(loop->notes, "claim")) {
      const std::vector<Stmt> behind(block->stmts.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                     block->stmts.end());
      stmts.push_back(claimed(*loop, block->stmts[i], behind));
    } else {
      stmts.push_back(visit(block->stmts[i]));
    }
  }
  return ir::block(std::move(stmts));
}

}  // namespace

Stmt claim_stores(const Stmt& s) { return visit(s); }

}  // namespace attune::lower

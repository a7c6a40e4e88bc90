// Shared memory that is done with before other shared memory is first used lends it its place: the
// slabs of operands to the sums that groups of threads exchange once all is multiplied.
//
//   alloc A shared {                      alloc A' shared {      // as long as the longer
//     alloc B shared { uses of B }   ->     uses of B, in A'
//     uses of A                             barrier
//   }                                       uses of A, in A'
//                                         }
//
// Both have one index by now. B must be used by all threads together, which barriers in it show. A
// is used once: no loop but those over blocks and threads may stand around it. B may be in serial
// loops, which are over before A is used: the barrier is behind these.
#include <algorithm>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/lower/statement_passes.h"

namespace attune::lower {
namespace {

using ir::Stmt;

bool is_shared(const ir::Allocate* storage) {
  return storage && storage->buffer->scope == ir::Scope::Shared;
}

bool uses(const Stmt& s, const ir::Buffer& buffer) {
  bool found = false;
  ir::visit(
      s,
      [&](const Stmt& part) {
        const auto* store = ir::as<ir::Store>(part);
        found |= store && store->buffer == buffer;
      },
      [&](const ir::Expr& e) {
        const auto* load = ir::as<ir::Load>(e);
        found |= load && load->buffer == buffer;
      });
  return found;
}

bool has_barrier(const Stmt& s) {
  bool found = false;
  ir::visit(
      s, [&](const Stmt& part) { found |= ir::as<ir::Barrier>(part) != nullptr; },
      [](const ir::Expr&) {});
  return found;
}

Stmt with_buffer(const Stmt& s, const ir::Buffer& from, const ir::Buffer& to);

ir::Expr with_buffer(const ir::Expr& e, const ir::Buffer& from, const ir::Buffer& to) {
  const ir::Expr mapped =
      ir::map_children(e, [&](const ir::Expr& child) { return with_buffer(child, from, to); });
  const auto* load = ir::as<ir::Load>(mapped);
  return load && load->buffer == from ? ir::load(to, load->index) : mapped;
}

Stmt with_buffer(const Stmt& s, const ir::Buffer& from, const ir::Buffer& to) {
  const Stmt mapped = ir::map_children(
      s, [&](const Stmt& child) { return with_buffer(child, from, to); },
      [&](const ir::Expr& e) { return with_buffer(e, from, to); });
  const auto* store = ir::as<ir::Store>(mapped);
  if (!store || store->buffer != from) return mapped;
  return ir::store(to, store->index, store->value);
}

// Storage, and the outermost loop that it is in, if any.
struct Lender {
  const ir::Allocate* storage = nullptr;
  const ir::For* loop = nullptr;
};

// The longest buffer that is done with before `wanted` is used; nothing where there is none.
class Lenders {
 public:
  explicit Lenders(const ir::Buffer& wanted) : wanted_(wanted) {}

  Lender find(const Stmt& s) {
    look(s, nullptr);
    return found_;
  }

 private:
  // False once `wanted` was used.
  bool look(const Stmt& s, const ir::For* around) {
    if (const auto* list = ir::as<ir::Block>(s)) {
      return std::all_of(list->stmts.begin(), list->stmts.end(),
                         [&](const Stmt& child) { return look(child, around); });
    }
    const bool unused = !uses(s, wanted_);
    if (const auto* loop = ir::as<ir::For>(s)) {
      const bool over = unused && loop->kind == ir::LoopKind::Serial;
      return over ? look(loop->body, around ? around : loop) : unused;
    }
    const auto* storage = ir::as<ir::Allocate>(s);
    if (is_shared(storage) && unused) consider({storage, around});
    return storage ? look(storage->body, around) : unused;
  }

  void consider(const Lender& lender) {
    const auto size = [](const Lender& l) { return ir::element_count(*l.storage->buffer); };
    const bool fits =
        lender.storage->buffer->type == wanted_->type && has_barrier(lender.storage->body);
    if (fits && (!found_.storage || size(lender) > size(found_))) found_ = lender;
  }

  const ir::Buffer& wanted_;
  Lender found_;
};

Stmt without(const Stmt& s, const Lender& lender) {
  const Stmt barrier = ir::make_stmt(ir::Barrier{ir::Scope::Shared});
  if (ir::as<ir::Allocate>(s) == lender.storage) {
    return lender.loop ? lender.storage->body : ir::block({lender.storage->body, barrier});
  }
  const Stmt mapped = ir::map_children(
      s, [&](const Stmt& child) { return without(child, lender); },
      [](const ir::Expr& e) { return e; });
  const bool last = lender.loop && ir::as<ir::For>(s) == lender.loop;
  return last ? ir::block({mapped, barrier}) : mapped;
}

}  // namespace

Stmt overlay_shared(const Stmt& s) {
  const auto* storage = ir::as<ir::Allocate>(s);
  if (is_shared(storage)) {
    const ir::Buffer& own = storage->buffer;
    if (const Lender lender = Lenders(own).find(storage->body); lender.storage) {
      const ir::Buffer lent = lender.storage->buffer;
      const std::int64_t elements = std::max(ir::element_count(*own), ir::element_count(*lent));
      const ir::Buffer both = ir::make_buffer(own->name, own->type, {elements}, own->scope);
      Stmt body = without(storage->body, lender);
      body = with_buffer(with_buffer(body, lent, both), own, both);
      return ir::allocate(both, body);
    }
  }
  const auto* loop = ir::as<ir::For>(s);
  if (loop && loop->kind != ir::LoopKind::Bound) return s;
  return ir::map_children(
      s, [](const Stmt& child) { return overlay_shared(child); },
      [](const ir::Expr& e) { return e; });
}

}  // namespace attune::lower

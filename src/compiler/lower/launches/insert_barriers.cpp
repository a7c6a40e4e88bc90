// Threads of a block meet where one would read in shared memory what another writes. Every
// statement has accesses that are exposed at its entry (before its first barrier) and at its exit
// (after its last one). In a sequence a barrier stands between two statements when what is exposed
// at the exit of the first and at the entry of the second is in conflict: the same buffer, and one
// of the two writes. A loop in whose body exit and entry are in conflict ends every iteration with
// a barrier, so that nothing is overwritten that the iteration before still reads. Conditions
// differ between threads, so nothing is put inside of them.
//
// Accesses to different slots of a pipeline are of different elements while its loop is in one
// iteration: their first indices are the same variable with unlike constants, modulo their number.
// The variable is that of a loop which all threads run in step, not one of the threads.
//
// A stage's own accesses need no barrier: one thread computes an element from its start to its end,
// and the index says which one.
#include <algorithm>
#include <optional>

#include "base/match.h"
#include "compiler/ir/nodes/intrinsics.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/simplify/linear.h"
#include "compiler/lower/statement_passes.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Stmt;

// The first index of an access, if it is (variable + offset) % count.
struct SlotIndex {
  std::string variable;
  std::int64_t offset, count;
};

struct Access {
  ir::Buffer buffer;
  std::vector<Expr> index;
  bool write = false;
  bool own = false;  // at the index that its statement stores to, in shared memory
  std::optional<SlotIndex> slot = {};
};
using Accesses = std::vector<Access>;

bool same_index(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const Expr& x, const Expr& y) { return ir::equal(x, y); });
}

std::optional<SlotIndex> slot_of(const std::vector<Expr>& index) {
  const auto* slot = index.empty() ? nullptr : ir::as<ir::Binary>(index[0]);
  const auto* count = slot && slot->op == ir::BinOp::Mod ? ir::as_int(slot->rhs) : nullptr;
  const auto sum = count ? ir::linear_of(slot->lhs) : std::nullopt;
  if (!sum || sum->terms.size() != 1 || sum->terms[0].second != 1) return {};
  return SlotIndex{sum->terms[0].first, sum->constant, *count};
}

bool in_different_slots(const Access& a, const Access& b) {
  return a.slot && b.slot && a.slot->variable == b.slot->variable &&
         a.slot->count == b.slot->count &&
         ir::floor_mod(a.slot->offset - b.slot->offset, a.slot->count) != 0;
}

// Loops around a statement, but for those over threads.
using Variables = std::vector<std::string>;

// Slots by other variables mean nothing: they differ between threads, or between iterations of a
// loop that the accesses are no longer in.
void keep_slots(Accesses& accesses, const Variables& around) {
  for (Access& access : accesses) {
    const bool known = access.slot && std::find(around.begin(), around.end(),
                                                access.slot->variable) != around.end();
    if (!known) access.slot.reset();
  }
}

bool in_conflict(const Accesses& before, const Accesses& after) {
  for (const Access& a : before) {
    for (const Access& b : after) {
      if (a.buffer != b.buffer || (!a.write && !b.write)) continue;
      if (a.own && b.own && same_index(a.index, b.index)) continue;
      if (in_different_slots(a, b)) continue;
      return true;
    }
  }
  return false;
}

void add_all(Accesses& to, const Accesses& from) { to.insert(to.end(), from.begin(), from.end()); }

void add_loads(const Expr& e, const ir::Store* within, Accesses& found) {
  ir::visit(e, [&](const Expr& part) {
    const auto* load = ir::as<ir::Load>(part);
    if (!load || load->buffer->scope != ir::Scope::Shared) return;
    const bool own = within && within->buffer->scope == ir::Scope::Shared &&
                     same_index(load->index, within->index);
    found.push_back({load->buffer, load->index, false, own, slot_of(load->index)});
  });
}

// What an intrinsic is given it reads, and the first of it writes too. Asynchronous copies write
// elements of their own, like stores; the wait for them is whose business they are.
void add_call(const ir::Opaque& call, Accesses& found) {
  const ir::IntrinsicDecl* declared = ir::find_intrinsic(call.name);
  if (!declared || declared->no_effect) return;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const std::size_t first = found.size();
    add_loads(call.args[i], nullptr, found);
    if (static_cast<int>(i) >= declared->written_args) continue;
    for (std::size_t j = first; j < found.size(); ++j) {
      found[j].write = true;
      found[j].own = call.name == ir::kAsyncCopy || call.name == ir::kBulkCopy;
    }
  }
}

// All accesses of a statement.
void add_accesses(const Stmt& s, Accesses& found) {
  if (const auto* store = ir::as<ir::Store>(s)) {
    for (const Expr& i : store->index) add_loads(i, nullptr, found);
    add_loads(store->value, store, found);
    if (store->buffer->scope == ir::Scope::Shared) {
      found.push_back({store->buffer, store->index, true, true, slot_of(store->index)});
    }
    return;
  }
  const auto* effect = ir::as<ir::Evaluate>(s);
  if (const auto* call = effect ? ir::as<ir::Opaque>(effect->value) : nullptr) {
    return add_call(*call, found);
  }
  ir::map_children(
      s,
      [&](const Stmt& child) {
        add_accesses(child, found);
        return child;
      },
      [&](const Expr& e) {
        add_loads(e, nullptr, found);
        return e;
      });
}

struct Piece {
  Stmt stmt;
  Accesses entry, exit;
  bool has_barrier = false;
};

Stmt barrier() { return ir::make_stmt(ir::Barrier{ir::Scope::Shared}); }

Piece process(const Stmt& s, const Variables& around);

Piece sequence(const ir::Block& block, const Variables& around) {
  Piece whole;
  std::vector<Stmt> stmts;
  for (const Stmt& child : block.stmts) {
    Piece next = process(child, around);
    if (in_conflict(whole.exit, next.entry)) {
      stmts.push_back(barrier());
      whole.has_barrier = true;
      whole.exit.clear();
    }
    if (!whole.has_barrier) add_all(whole.entry, next.entry);
    if (next.has_barrier) whole.exit.clear();
    add_all(whole.exit, next.exit);
    whole.has_barrier |= next.has_barrier;
    stmts.push_back(std::move(next.stmt));
  }
  whole.stmt = ir::block(std::move(stmts));
  return whole;
}

Piece loop(const ir::For& x, const Variables& around) {
  Variables inside = around;
  if (x.kind != ir::LoopKind::Bound) inside.push_back(x.var);
  Piece body = process(x.body, inside);
  keep_slots(body.entry, around);
  keep_slots(body.exit, around);
  if (x.kind != ir::LoopKind::Bound && in_conflict(body.exit, body.entry)) {
    body.stmt = ir::block({body.stmt, barrier()});
    body.exit.clear();
    body.has_barrier = true;
  }
  ir::For copy = x;
  copy.body = std::move(body.stmt);
  body.stmt = ir::make_stmt(std::move(copy));
  return body;
}

Piece process(const Stmt& s, const Variables& around) {
  return std::visit(Match{
                        [&](const ir::Block& x) { return sequence(x, around); },
                        [&](const ir::For& x) { return loop(x, around); },
                        [&](const ir::Allocate& x) {
                          Piece body = process(x.body, around);
                          body.stmt = ir::allocate(x.buffer, body.stmt);
                          return body;
                        },
                        [&](const ir::LetStmt& x) {
                          Piece body = process(x.body, around);
                          Accesses read;
                          add_loads(x.value, nullptr, read);
                          keep_slots(read, around);
                          add_all(body.entry, read);
                          if (!body.has_barrier) add_all(body.exit, read);
                          body.stmt = ir::let(x.var, x.value, body.stmt);
                          return body;
                        },
                        [&](const ir::Barrier&) {
                          return Piece{s, {}, {}, true};
                        },
                        [&](const auto&) {
                          Piece leaf{s, {}, {}, false};
                          add_accesses(s, leaf.entry);
                          keep_slots(leaf.entry, around);
                          leaf.exit = leaf.entry;
                          return leaf;
                        },
                    },
                    s->kind);
}

bool has_shared_memory(const Stmt& s) {
  bool found = false;
  ir::visit(
      s,
      [&](const Stmt& part) {
        const auto* storage = ir::as<ir::Allocate>(part);
        found |= storage && storage->buffer->scope == ir::Scope::Shared;
      },
      [](const Expr&) {});
  return found;
}

}  // namespace

Stmt insert_barriers(const Stmt& s) { return has_shared_memory(s) ? process(s, {}).stmt : s; }

}  // namespace attune::lower

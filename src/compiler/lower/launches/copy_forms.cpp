#include "compiler/lower/launches/copy_forms.h"

#include <algorithm>

#include "base/check.h"
#include "compiler/ir/nodes/intrinsics.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/lower/conditions.h"
#include "compiler/lower/flatten.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Stmt;

// The nest with its store as `change` says.
Stmt with_store(const Stmt& s, const std::function<Stmt(const ir::Store&)>& change) {
  if (const auto* store = ir::as<ir::Store>(s)) return change(*store);
  return ir::map_children(
      s, [&](const Stmt& child) { return with_store(child, change); },
      [](const Expr& e) { return e; });
}

// An element of global memory, and where it is read; zero elsewhere.
struct Source {
  const ir::Load* load;
  Expr valid;
};

std::optional<Source> source_of(const Expr& value) {
  Source source{nullptr, ir::bool_imm(true)};
  Expr at = value;
  while (const auto* select = ir::as<ir::Select>(at)) {
    const bool plain =
        !reads_memory(select->condition) && ir::equal(select->if_false, ir::zero_of(value.type()));
    if (!plain) return {};
    source.valid = source.valid && select->condition;
    at = select->if_true;
  }
  source.load = ir::as<ir::Load>(at);
  const bool global = source.load && source.load->buffer->scope == ir::Scope::Global;
  return global ? std::optional(source) : std::nullopt;
}

// Whether a condition is the same in every `count` iterations: of a sum of which all but the
// variable are multiples of `count`, a bound that no such iterations cross.
bool same_for(const std::string& variable, const Expr& condition, std::int64_t count) {
  for (const Expr& part : conjuncts(condition)) {
    if (!ir::uses_var(part, variable)) continue;
    const auto sum = at_least_zero(part);
    if (!sum) return false;
    const std::int64_t step = sum->coefficient(variable);
    for (const auto& [name, factor] : sum->terms) {
      if (name != variable && factor % count != 0) return false;
    }
    for (std::int64_t i = 1; i < count; ++i) {
      if (ir::floor_div(sum->constant + i * step, count) != ir::floor_div(sum->constant, count)) {
        return false;
      }
    }
  }
  return true;
}

class AsyncForm {
 public:
  explicit AsyncForm(const Slot& slot) : slot_(slot) {}

  std::optional<Stmt> nest(const Stmt& s, const ir::Ranges& ranges) {
    if (const auto* store = ir::as<ir::Store>(s)) {
      return elements(*store, 1);
    }
    if (const auto* branch = ir::as<ir::If>(s)) {
      if (branch->else_body) return {};
      const auto body = nest(branch->then_body, ranges.assume(branch->condition));
      return body ? std::optional(ir::if_then(branch->condition, *body)) : std::nullopt;
    }
    const auto* loop = ir::as<ir::For>(s);
    if (!loop) return {};
    if (loop->kind == ir::LoopKind::Vectorized) {
      if (auto whole = vector(*loop, ranges)) return whole;
    }
    const auto body = nest(loop->body, ranges.with_loop(loop->var, loop->min, loop->extent));
    if (!body) return {};
    ir::For copy = *loop;
    if (copy.kind == ir::LoopKind::Vectorized) copy.kind = ir::LoopKind::Unrolled;
    copy.body = *body;
    return ir::make_stmt(std::move(copy));
  }

 private:
  std::optional<Stmt> elements(const ir::Store& store, std::int64_t count) const {
    const std::int64_t bytes = count * store.buffer->type.element_bytes();
    const auto source = source_of(store.value);
    if (!source || (bytes != 4 && bytes != 8 && bytes != 16)) return {};
    return ir::evaluate(ir::opaque(
        std::string(ir::kAsyncCopy), ir::kI32,
        {ir::load(slot_.to, slot_.place(store.index)),
         ir::load(source->load->buffer, source->load->index), Expr(count), source->valid}));
  }

  // A vectorised loop around the store as copies of several elements each.
  std::optional<Stmt> vector(const ir::For& loop, const ir::Ranges& ranges) const {
    const auto* branch = ir::as<ir::If>(loop.body);
    if (branch && branch->else_body) return {};
    const auto* store = ir::as<ir::Store>(branch ? branch->then_body : loop.body);
    const auto* extent = ir::as_int(loop.extent);
    const auto source = store ? source_of(store->value) : std::nullopt;
    if (!source || !extent || !ir::is_const_int(loop.min, 0)) return {};
    // Without its last iteration, each has one that follows.
    const ir::Ranges known = ranges.with(loop.var, ir::Interval::extent(*extent - 1));
    for (std::int64_t bytes = 16; bytes >= 4; bytes /= 2) {
      const std::int64_t count = bytes / store->buffer->type.element_bytes();
      if (count < 2 || *extent % count != 0) continue;
      if (!whole(loop.var, *store->buffer, store->index, count, known) ||
          !whole(loop.var, *source->load->buffer, source->load->index, count, known) ||
          ir::element_count(*store->buffer) % count != 0 ||
          !same_for(loop.var, source->valid, count) ||
          (branch && !same_for(loop.var, branch->condition, count))) {
        continue;
      }
      Stmt body = elements(*store, count).value();
      if (branch) body = ir::if_then(branch->condition, body);
      body = ir::substitute(body, {{loop.var, ir::var(loop.var) * Expr(count)}});
      return ir::for_loop(loop.var, 0, *extent / count, body, ir::LoopKind::Unrolled);
    }
    return {};
  }

  // Whether every `count` iterations access so many elements side by side, at a multiple of them.
  static bool whole(const std::string& variable, const ir::BufferNode& buffer,
                    const std::vector<Expr>& index, std::int64_t count, const ir::Ranges& ranges) {
    const Expr at = flat_index(buffer, index);
    const auto with = [&](Expr value) { return ir::substitute(at, {{variable, value}}); };
    const Expr step = ir::simplify(with(ir::var(variable) + Expr(1)) - at, ranges);
    return ir::is_const_int(step, 1) && ir::prove(with(Expr(0)) % Expr(count) == Expr(0), ranges);
  }

  const Slot& slot_;
};

// The loops around the store.
std::vector<const ir::For*> loops_of(const Stmt& nest) {
  std::vector<const ir::For*> loops;
  ir::visit(
      nest,
      [&](const Stmt& s) {
        if (const auto* loop = ir::as<ir::For>(s)) loops.push_back(loop);
      },
      [](const Expr&) {});
  return loops;
}

// All loops are written out, so that what they index can be registers.
Stmt unrolled(const Stmt& s) {
  const Stmt mapped = ir::map_children(
      s, [](const Stmt& child) { return unrolled(child); }, [](const Expr& e) { return e; });
  const auto* loop = ir::as<ir::For>(mapped);
  if (!loop || loop->kind != ir::LoopKind::Serial) return mapped;
  ir::For copy = *loop;
  copy.kind = ir::LoopKind::Unrolled;
  return ir::make_stmt(std::move(copy));
}

}  // namespace

std::vector<Expr> Slot::place(const std::vector<Expr>& index) const {
  std::vector<Expr> whole{number};
  whole.insert(whole.end(), index.begin(), index.end());
  return whole;
}

Stmt stored(const Stmt& nest, const Slot& slot) {
  return with_store(nest, [&](const ir::Store& store) {
    return ir::store(slot.to, slot.place(store.index), store.value);
  });
}

std::optional<Stmt> asynchronous(const Stmt& nest, const Slot& slot, const ir::Ranges& ranges) {
  return AsyncForm(slot).nest(nest, ranges);
}

Staged staged(const Stmt& nest, const Slot& slot) {
  constexpr std::int64_t kMostRegisters = 64;
  std::vector<std::int64_t> shape;
  std::vector<Expr> index;
  std::int64_t elements = 1;
  for (const ir::For* loop : loops_of(nest)) {
    const auto* extent = ir::as_int(loop->extent);
    CHECK(extent && ir::is_const_int(loop->min, 0), "the loops of a copy are as the nest has them");
    shape.push_back(*extent);
    index.push_back(ir::var(loop->var));
    elements *= *extent;
  }
  if (shape.empty()) shape = {1}, index = {Expr(0)};
  const bool registers = elements <= kMostRegisters;
  Staged parts{ir::make_buffer(slot.from->name + ".ahead", slot.from->type, shape,
                               registers ? ir::Scope::Register : ir::Scope::Stack),
               {},
               {}};
  const Stmt loops = registers ? unrolled(nest) : nest;
  parts.fetch = with_store(
      loops, [&](const ir::Store& store) { return ir::store(parts.held, index, store.value); });
  parts.put = with_store(loops, [&](const ir::Store& store) {
    return ir::store(slot.to, slot.place(store.index), ir::load(parts.held, index));
  });
  return parts;
}

}  // namespace attune::lower

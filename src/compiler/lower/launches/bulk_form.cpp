#include "compiler/lower/launches/bulk_form.h"

#include <algorithm>

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/lower/flatten.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Stmt;

constexpr std::int64_t kUnitBytes = 16;

// The loops of a nest without conditions, and its store.
struct Loops {
  std::vector<std::pair<std::string, std::int64_t>> variables;
  const ir::Store* store = nullptr;
};

Loops loops_of(const Stmt& nest) {
  Loops loops;
  const Stmt* at = &nest;
  while (const auto* loop = ir::as<ir::For>(*at)) {
    const auto* extent = ir::as_int(loop->extent);
    if (!extent || !ir::is_const_int(loop->min, 0)) return loops;
    loops.variables.emplace_back(loop->var, *extent);
    at = &loop->body;
  }
  loops.store = ir::as<ir::Store>(*at);
  return loops;
}

}  // namespace

Expr LaunchLoops::is_first() const {
  Expr condition = ir::bool_imm(true);
  for (const Axis& axis : threads) {
    if (axis.extent > 1) condition = condition && ir::var(axis.variable) == Expr(0);
  }
  return condition;
}

std::optional<BulkForm> in_bulk(const Stmt& nest, const Slot& slot, const LaunchLoops& launch,
                                std::int64_t blocks, const ir::Ranges& ranges) {
  const Loops loops = loops_of(nest);
  const auto* source = loops.store ? ir::as<ir::Load>(loops.store->value) : nullptr;
  if (!source || source->buffer->scope != ir::Scope::Global) return {};
  ir::Ranges known = ranges;
  ir::Bindings start;
  std::int64_t elements = 1;
  const auto add = [&](const std::string& variable, std::int64_t extent) {
    known = known.with(variable, ir::Interval::extent(extent));
    start[variable] = Expr(0);
    elements *= extent;
  };
  for (const auto& [variable, extent] : loops.variables) add(variable, extent);
  for (const LaunchLoops::Axis& axis : launch.threads) add(axis.variable, axis.extent);
  const Expr to = flat_index(*loops.store->buffer, loops.store->index);
  const Expr from = flat_index(*source->buffer, source->index);
  const Expr apart = ir::simplify(from - to, known);
  for (const auto& [variable, zero] : start) {
    if (ir::uses_var(apart, variable)) return {};
  }
  const std::int64_t bytes = source->buffer->type.element_bytes();
  const Expr first = ir::simplify(ir::substitute(from, start), known);
  if (elements != ir::element_count(*slot.from) || elements * bytes % kUnitBytes != 0 ||
      !ir::is_const_int(ir::simplify(ir::substitute(to, start), known), 0) ||
      !ir::prove(first % Expr(std::max<std::int64_t>(1, kUnitBytes / bytes)) == Expr(0), known)) {
    return {};
  }
  BulkForm form;
  const std::vector<Expr> zeros(slot.from->shape.size(), Expr(0));
  std::vector<Expr> index;
  for (const Expr& each : source->index) {
    index.push_back(ir::simplify(ir::substitute(each, start), known));
  }
  form.to = ir::load(slot.to, slot.place(zeros));
  form.from = ir::load(source->buffer, std::move(index));
  form.elements = elements;
  for (const LaunchLoops::Axis& axis : launch.blocks) {
    const bool same = !ir::uses_var(form.from, axis.variable) && axis.extent % blocks == 0;
    if (!same || elements * bytes % (kUnitBytes * blocks) != 0) continue;
    form.blocks = blocks;
    form.axis = axis.name.back() - 'x';
    break;
  }
  return form;
}

}  // namespace attune::lower

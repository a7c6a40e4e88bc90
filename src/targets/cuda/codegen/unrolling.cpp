#include "targets/cuda/codegen/unrolling.h"

#include <algorithm>
#include <set>
#include <string>

#include "compiler/codegen/index_facts.h"
#include "compiler/codegen/walk.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"

namespace attune::cuda {
namespace {

using ir::Expr;

// Statements that one thread runs in it.
constexpr std::int64_t kOverRegisters = 4096, kAroundRegisters = 1152, kElsewhere = 64;
// Of a loop that is too long, so many iterations stand side by side at most.
constexpr std::int64_t kMostTogether = 4;
constexpr std::int64_t kEndless = std::int64_t{1} << 40;

// What an instruction of a warp is worth, with the loads of its operands.
constexpr std::int64_t kOfWarpCall = 4;

bool is_warp_call(const Expr& e) {
  const auto* call = ir::as<ir::Opaque>(e);
  return call && ir::find_tensor_intrinsic(call->name) != nullptr;
}

bool is_private(const ir::BufferNode& buffer) {
  return buffer.scope == ir::Scope::Register || buffer.scope == ir::Scope::Stack;
}

struct Facts {
  std::int64_t statements = 0;  // that run, kEndless where it is not known
  bool barrier = false;
  bool registers = false;  // private memory is accessed
};

Facts facts_of(const ir::Stmt& s) {
  Facts facts;
  const auto note = [&](const ir::BufferNode& buffer) { facts.registers |= is_private(buffer); };
  codegen::for_each_child(
      s,
      [&](const ir::Stmt& child) {
        const Facts inner = facts_of(child);
        facts.statements = std::min(facts.statements + inner.statements, kEndless);
        facts.barrier |= inner.barrier;
        facts.registers |= inner.registers;
      },
      [&](const Expr& e) {
        codegen::walk(e, [&](const Expr& part) {
          if (const auto* x = ir::as<ir::Load>(part)) note(*x->buffer);
        });
      });
  if (const auto* x = ir::as<ir::Store>(s)) {
    note(*x->buffer);
    ++facts.statements;
  }
  if (const auto* x = ir::as<ir::Evaluate>(s); x && is_warp_call(x->value)) {
    facts.statements += kOfWarpCall;
  }
  facts.barrier |= ir::as<ir::Barrier>(s) != nullptr;
  if (const auto* loop = ir::as<ir::For>(s)) {
    const std::int64_t* extent = ir::as_int(loop->extent);
    const bool small = extent && *extent < (1 << 20) && facts.statements < (1 << 20);
    facts.statements = small ? facts.statements * *extent : kEndless;
  }
  return facts;
}

// Whether private memory is accessed at places that the variable decides.
bool indexes_registers(const ir::For& loop) {
  bool found = false;
  const auto access = [&](const ir::Buffer& buffer, const std::vector<Expr>& index) {
    if (!is_private(*buffer)) return;
    for (const Expr& i : index) found |= ir::uses_var(i, loop.var);
  };
  codegen::walk(
      loop.body,
      [&](const ir::Stmt& s) {
        if (const auto* x = ir::as<ir::Store>(s)) access(x->buffer, x->index);
      },
      [&](const Expr& e) {
        if (const auto* x = ir::as<ir::Load>(e)) access(x->buffer, x->index);
      });
  return found;
}

void add_runs(const ir::Stmt& s, std::set<std::string>& unrolled, codegen::BufferSet& found) {
  const auto access = [&](const ir::Buffer& buffer, const Expr& at) {
    if (buffer->scope != ir::Scope::Global || !at.type().is_scalar()) return;
    for (const auto& [term, coefficient] : codegen::linearize(at, {}).terms) {
      const auto* v = ir::as<ir::Var>(term);
      if (v && coefficient == 1 && unrolled.contains(v->name)) found.insert(buffer.get());
    }
  };
  if (const auto* x = ir::as<ir::Store>(s)) access(x->buffer, x->index[0]);
  const auto* loop = ir::as<ir::For>(s);
  const bool added = loop && is_unrolled(*loop) && unrolled.insert(loop->var).second;
  codegen::for_each_child(
      s, [&](const ir::Stmt& child) { add_runs(child, unrolled, found); },
      [&](const Expr& e) {
        codegen::walk(e, [&](const Expr& part) {
          if (const auto* x = ir::as<ir::Load>(part)) access(x->buffer, x->index[0]);
        });
      });
  if (added) unrolled.erase(loop->var);
}

}  // namespace

codegen::BufferSet accessed_in_runs(const ir::Stmt& s) {
  std::set<std::string> unrolled;
  codegen::BufferSet found;
  add_runs(s, unrolled, found);
  return found;
}

std::int64_t unroll_factor(const ir::For& loop) {
  const std::int64_t* extent = ir::as_int(loop.extent);
  if (loop.kind == ir::LoopKind::Bound || !extent || *extent <= 1) return 1;
  const Facts facts = facts_of(loop.body);
  if (facts.barrier || facts.statements >= kEndless) return 1;
  const bool indexes = indexes_registers(loop);
  const std::int64_t most = indexes           ? kOverRegisters
                            : facts.registers ? kAroundRegisters
                                              : kElsewhere;
  if (facts.statements * *extent <= most) return *extent;
  if (indexes || !facts.registers) return 1;
  std::int64_t factor = std::min(kMostTogether, most / std::max<std::int64_t>(1, facts.statements));
  while (factor > 1 && *extent % factor != 0) --factor;
  return std::max<std::int64_t>(1, factor);
}

bool is_unrolled(const ir::For& loop) {
  const std::int64_t* extent = ir::as_int(loop.extent);
  return extent && *extent > 1 && unroll_factor(loop) == *extent;
}

std::int64_t unrolled_expressions(const ir::Stmt& s) {
  std::int64_t count = 0;
  codegen::for_each_child(
      s, [&](const ir::Stmt& child) { count += unrolled_expressions(child); },
      [&](const Expr& e) { codegen::walk(e, [&](const Expr&) { ++count; }); });
  const auto* loop = ir::as<ir::For>(s);
  return std::min(loop ? count * unroll_factor(*loop) : count, kEndless);
}

}  // namespace attune::cuda

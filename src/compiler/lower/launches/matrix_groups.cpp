// Instructions of warpgroups that no pipeline runs beside others become groups of their own, which
// are waited for at once: the outermost statement that does nothing else is one. And whoever writes
// shared memory fences it before the barrier behind which such instructions read it.
#include "compiler/lower/launches/matrix_groups.h"

#include <algorithm>

#include "compiler/ir/nodes/intrinsics.h"
#include "compiler/ir/nodes/rewrite.h"
#include "compiler/ir/tensor_intrinsics/tensor_intrinsic.h"
#include "compiler/lower/statement_passes.h"

namespace attune::lower {
namespace {

using ir::Expr;
using ir::Stmt;

Stmt call(std::string_view name, std::vector<Expr> arguments = {}) {
  return ir::evaluate(ir::opaque(std::string(name), ir::kI32, std::move(arguments)));
}

const ir::Opaque* called(const Stmt& s) {
  const auto* effect = ir::as<ir::Evaluate>(s);
  return effect ? ir::as<ir::Opaque>(effect->value) : nullptr;
}

// What pipelines wrote stays as it is.
bool has_group(const ir::Block& block) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [](const Stmt& s) {
    const ir::Opaque* x = called(s);
    return x && x->name == ir::kMatrixCommit;
  });
}

Stmt grouped(const Stmt& s) {
  if (only_warpgroup_calls(s)) {
    return ir::block({one_matrix_group(s), call(ir::kMatrixWait, {Expr(0)})});
  }
  if (const auto* block = ir::as<ir::Block>(s); block && has_group(*block)) return s;
  return ir::map_children(
      s, [](const Stmt& child) { return grouped(child); }, [](const Expr& e) { return e; });
}

Stmt fenced(const Stmt& s) {
  if (ir::as<ir::Barrier>(s)) return ir::block({call(ir::kSharedFence), s});
  return ir::map_children(
      s, [](const Stmt& child) { return fenced(child); }, [](const Expr& e) { return e; });
}

}  // namespace

bool only_warpgroup_calls(const Stmt& s) {
  if (const ir::Opaque* x = called(s)) {
    const ir::TensorIntrinsic* intrinsic = ir::find_tensor_intrinsic(x->name);
    return intrinsic && intrinsic->warpgroup;
  }
  if (const auto* loop = ir::as<ir::For>(s)) return only_warpgroup_calls(loop->body);
  const auto* block = ir::as<ir::Block>(s);
  return block && !block->stmts.empty() &&
         std::all_of(block->stmts.begin(), block->stmts.end(), only_warpgroup_calls);
}

Stmt one_matrix_group(const Stmt& calls) {
  return ir::block({call(ir::kMatrixFence), calls, call(ir::kMatrixCommit)});
}

Stmt group_matrices(const Stmt& s) { return ir::calls_warpgroups(s) ? grouped(s) : s; }

Stmt fence_matrices(const Stmt& s) { return ir::calls_warpgroups(s) ? fenced(s) : s; }

}  // namespace attune::lower

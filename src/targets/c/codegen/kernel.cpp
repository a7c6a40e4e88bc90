#include "targets/c/codegen/kernel.h"

#include <fmt/format.h>

#include "compiler/codegen/walk.h"
#include "targets/c/codegen/printer.h"

namespace attune::c {
namespace {

// What is wrong with a statement that should have been lowered; empty when nothing is.
std::string complaint(const ir::Stmt& s) {
  if (const auto* loop = ir::as<ir::For>(s)) {
    if (loop->kind == ir::LoopKind::Vectorized || loop->kind == ir::LoopKind::Unrolled) {
      return fmt::format("loop '{}' is still marked vectorized or unrolled", loop->var);
    }
    if (loop->kind == ir::LoopKind::Bound) {
      return fmt::format("loop '{}' is bound to '{}', which plain C does not have", loop->var,
                         loop->axis);
    }
  }
  if (const auto* x = ir::as<ir::Store>(s); x && x->index.size() != 1) {
    return fmt::format("a store to buffer '{}' has {} indices, must have 1", x->buffer->name,
                       x->index.size());
  }
  if (ir::as<ir::Barrier>(s)) return "a barrier, which plain C does not have";
  return {};
}

Status check_lowered(const ir::Kernel& kernel) {
  std::string why;
  codegen::walk(
      kernel.body,
      [&](const ir::Stmt& s) {
        if (why.empty()) why = complaint(s);
      },
      [&](const ir::Expr& e) {
        const auto* x = ir::as<ir::Load>(e);
        if (why.empty() && x && x->index.size() != 1) {
          why = fmt::format("a load of buffer '{}' has {} indices, must have 1", x->buffer->name,
                            x->index.size());
        }
      });
  if (why.empty()) return {};
  return unsupported(fmt::format("kernel '{}' cannot be written as C: {}", kernel.name, why));
}

}  // namespace

Result<PrintedKernel> print_kernel(const ir::Kernel& kernel, const PrintOptions& options) {
  ATTUNE_RETURN_IF_ERROR(check_lowered(kernel));
  const codegen::StoragePlan plan = codegen::plan_storage(kernel, options.threads);
  return KernelPrinter(kernel, plan, options).print();
}

std::string parallel_struct(const std::string& prefix) {
  return fmt::format(
      R"(/* Threads of the caller. `run` calls `task` on disjoint ranges [begin, end) that cover
 * [0, count), each with the number of the thread, and returns when all are done. */
typedef struct {0}_parallel {{
  void* pool; /* handed back to run */
  void (*run)(void* pool, int64_t count,
              void (*task)(void* closure, int64_t begin, int64_t end, int32_t worker),
              void* closure);
}} {0}_parallel;
)",
      prefix);
}

}  // namespace attune::c

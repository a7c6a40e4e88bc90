#include "compiler/lower/prepared.h"

#include <fmt/format.h>

namespace attune::lower {

// Buffers that are filled ahead of time outlive the kernel that fills them.
Status require_global(const ir::BufferNode& buffer) {
  if (buffer.scope == ir::Scope::Global) return {};
  return invalid(
      fmt::format("stage '{}' is computed ahead of time and must be in global memory", buffer.name),
      "compute it at a loop of its consumer to keep it on the stack or in registers");
}

ir::Stmt with_buffers(std::vector<ir::Stmt> stmts, const std::vector<ir::Buffer>& buffers) {
  ir::Stmt body = ir::block(std::move(stmts));
  for (auto b = buffers.rbegin(); b != buffers.rend(); ++b) body = ir::allocate(*b, body);
  return body;
}

}  // namespace attune::lower

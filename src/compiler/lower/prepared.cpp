#include "compiler/lower/prepared.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::lower {

using schedule::State;

// Per stage: reads, through all its producers, constants only.
std::vector<bool> constant_stages(const State& state) {
  std::vector<bool> constant;
  for (const auto& stage : state.stages) {
    const bool all = std::all_of(
        stage->accesses.begin(), stage->accesses.end(), [&](const schedule::Access& access) {
          const int producer = state.producer_of(access.buffer);
          if (producer >= 0) return static_cast<bool>(constant[producer]);
          return std::any_of(state.inputs.begin(), state.inputs.end(), [&](const ir::Input& input) {
            return input.buffer == access.buffer && input.constant;
          });
        });
    constant.push_back(all);
  }
  return constant;
}

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

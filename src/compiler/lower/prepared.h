// Stages that are computed ahead of time, what is made of constants alone, and their buffers.
#pragma once

#include <vector>

#include "compiler/schedule/state.h"

namespace attune::lower {

// Per stage: reads, through all its producers, constants only.
std::vector<bool> constant_stages(const schedule::State& state);
// Buffers that are filled ahead of time outlive the kernel that fills them.
Status require_global(const ir::BufferNode& buffer);

// Statements one after the other, with buffers around all of them.
ir::Stmt with_buffers(std::vector<ir::Stmt> stmts, const std::vector<ir::Buffer>& buffers);

}  // namespace attune::lower

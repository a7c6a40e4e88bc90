// The buffers around root stages, and of those that are computed ahead of time.
#pragma once

#include <vector>

#include "compiler/schedule/state.h"

namespace attune::lower {

// Buffers that are filled ahead of time outlive the kernel that fills them.
Status require_global(const ir::BufferNode& buffer);

// Statements one after the other, with buffers around all of them.
ir::Stmt with_buffers(std::vector<ir::Stmt> stmts, const std::vector<ir::Buffer>& buffers);

}  // namespace attune::lower

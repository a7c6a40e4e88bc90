// Which serial loops a thread's code repeats for every iteration. Private arrays are registers only
// when all their indices are constants, so loops that index them are unrolled whatever they cost,
// up to a limit; loops around them while the whole stays small.
#pragma once

#include <cstdint>

#include "compiler/codegen/buffer_order.h"
#include "compiler/ir/nodes/stmt.h"

namespace attune::cuda {

bool is_unrolled(const ir::For& loop);

// Expressions of the statement once its loops are unrolled: how much there is to compile.
std::int64_t unrolled_expressions(const ir::Stmt& s);

// Buffers in global memory of which an unrolled loop accesses elements side by side. The compiler
// puts such accesses together when it knows how the buffer is aligned.
codegen::BufferSet accessed_in_runs(const ir::Stmt& s);

}  // namespace attune::cuda

// Which serial loops a thread's code repeats for every iteration. Private arrays are registers only
// when all their indices are constants, so loops that index them are unrolled whatever they cost,
// up to a limit; loops around them as far as the whole stays small, so that what an iteration reads
// is on its way while the one before it multiplies.
#pragma once

#include <cstdint>

#include "compiler/codegen/buffer_order.h"
#include "compiler/ir/nodes/stmt.h"

namespace attune::cuda {

// How many iterations stand side by side in the code: all of them, or a part of them that divides
// their number; 1: the loop stays as it is.
std::int64_t unroll_factor(const ir::For& loop);
// Whether all do.
bool is_unrolled(const ir::For& loop);

// Expressions of the statement once its loops are unrolled: how much there is to compile.
std::int64_t unrolled_expressions(const ir::Stmt& s);

// Buffers in global memory of which an unrolled loop accesses elements side by side. The compiler
// puts such accesses together when it knows how the buffer is aligned.
codegen::BufferSet accessed_in_runs(const ir::Stmt& s);

}  // namespace attune::cuda

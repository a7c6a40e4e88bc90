// The passes over statements; passes.cpp lists them in their order.
#pragma once

#include "compiler/ir/nodes/stmt.h"

namespace attune::lower {

// Loops with pipelined copies fetch what later iterations work on while they work.
ir::Stmt pipeline_copies(const ir::Stmt& s);
// Instructions of warpgroups that nothing waits for yet are closed in groups and waited for.
ir::Stmt group_matrices(const ir::Stmt& s);
// What threads write to shared memory is fenced, before barriers, for instructions of warpgroups.
ir::Stmt fence_matrices(const ir::Stmt& s);
// Barriers between threads of a block that write and read the same shared memory.
ir::Stmt insert_barriers(const ir::Stmt& s);
// Moves conditions out of the loops they do not depend on.
ir::Stmt hoist_guards(const ir::Stmt& s);
// A condition around a whole loop body becomes part of the loop's range.
ir::Stmt tighten_loops(const ir::Stmt& s);
// Parts of fused loops that conditions speak of become variables.
ir::Stmt name_parts(const ir::Stmt& s);
// Splits loops so that the main part has no conditions; first and last iterations stand apart.
ir::Stmt partition_loops(const ir::Stmt& s);
// Loops with the note `prefetch` ask for what they will read later; after flattening.
ir::Stmt prefetch_loads(const ir::Stmt& s);
// Loops with the note `claim` take possession of what is written behind them; after flattening.
ir::Stmt claim_stores(const ir::Stmt& s);
// Writes unrolled loops out.
ir::Stmt unroll_loops(const ir::Stmt& s);
// Takes conditions away that the ranges of the loops around them decide.
ir::Stmt decide_guards(const ir::Stmt& s);
// Shared memory that is done with lends its place to what comes after it; after flattening.
ir::Stmt overlay_shared(const ir::Stmt& s);
// Turns vectorised loops into vector expressions.
struct VectorForm {
  // Tails of loops over elements of at least so many bytes are one vector, whatever their number of
  // lanes; 0: vectors have a power of two.
  int masked_bytes = 0;
};
ir::Stmt vectorize_loops(const ir::Stmt& s, const VectorForm& form = {});

}  // namespace attune::lower

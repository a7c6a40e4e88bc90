// Loop nests: turns the stages of a state into statements, with storage for every stage, producers
// placed inside of the loops they are computed at, and guards around what may lie outside.
#pragma once

#include "base/result.h"
#include "compiler/ir/nodes/stmt.h"
#include "compiler/schedule/bounds.h"
#include "compiler/schedule/state.h"

namespace attune::lower {

struct Nests {
  ir::Stmt prepare;  // empty when nothing can be prepared
  ir::Stmt main;
  std::vector<ir::Buffer> prepared;  // buffers that prepare writes and main reads
};

Result<Nests> build_nests(const schedule::State& state);

}  // namespace attune::lower

// The forms that a copy into one of several buffers can take. A copy is a nest of loops and
// conditions around one store, as the stage of a copy lowers to; `slot` says into which of the
// buffers of `to`, the first dimension of which counts them, what the nest stores to `from` goes.
#pragma once

#include <optional>

#include "compiler/ir/nodes/stmt.h"
#include "compiler/ir/simplify/simplify.h"

namespace attune::lower {

struct Slot {
  ir::Buffer from, to;
  ir::Expr number;

  // The place in `to` of an element of `from`.
  std::vector<ir::Expr> place(const std::vector<ir::Expr>& index) const;
};

// By stores.
ir::Stmt stored(const ir::Stmt& nest, const Slot& slot);

// By asynchronous copies of 16, 8 or 4 bytes, as many as a vectorised loop moves and alignment
// allows; zeros where a select says so. Nothing if what is stored is not a plain element of global
// memory, or one access would be of fewer than 4 bytes.
std::optional<ir::Stmt> asynchronous(const ir::Stmt& nest, const Slot& slot,
                                     const ir::Ranges& ranges);

// In two parts, with memory of the thread between them.
struct Staged {
  ir::Buffer held;
  ir::Stmt fetch, put;
};
Staged staged(const ir::Stmt& nest, const Slot& slot);

}  // namespace attune::lower

// Copies of one piece of memory, which the device makes by itself when one thread asks for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/lower/launches/copy_forms.h"

namespace attune::lower {

// The axes of a launch around a statement.
struct LaunchLoops {
  struct Axis {
    std::string variable, name;  // "thread.x"
    std::int64_t extent = 1;
  };
  std::vector<Axis> threads, blocks;

  // Of the first thread of a block alone.
  ir::Expr is_first() const;
};

struct BulkForm {
  ir::Expr to, from;  // loads of the first elements
  std::int64_t elements = 0;
  // Blocks that want the same, and along which axis (0: x) they are neighbours.
  std::int64_t blocks = 1, axis = 0;
};

// The copy of a nest (copy_forms.h) into a slot as one, for up to `blocks` of a cluster. Nothing
// when threads do not fill the whole slot with what lies in one piece in global memory too.
std::optional<BulkForm> in_bulk(const ir::Stmt& nest, const Slot& slot, const LaunchLoops& launch,
                                std::int64_t blocks, const ir::Ranges& ranges);

}  // namespace attune::lower

// The right-hand matrix of a product: which tensor it is, how it lies, and how it is packed into
// panels as wide as a register tile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/nodes/tensor_expr.h"
#include "tuner/templates/trace_writer.h"

namespace attune::templates {

// Which of its dimensions the columns and the reduction run along.
struct Right {
  std::string tensor;
  const ir::Stage* stage = nullptr;  // that makes it; null for an input
  bool prepared = false;             // constant: laid out ahead of time
  bool private_use = false;          // the anchor alone reads it
  std::vector<std::string> axes;     // of the stage, or of a copy of the input
  int j = -1, k = -1;                // positions
  bool contiguous() const { return j + 1 == static_cast<int>(axes.size()); }
  // Whether it can be packed part by part, inside of other loops.
  bool copied() const { return !prepared && (stage == nullptr || private_use); }
};

// Of the product that the anchor is, over axes j and k; nothing where there is none to be packed.
std::optional<Right> right_of(const ir::Program& program);

struct Panel {
  std::int64_t vectors, lanes;
};

// Where panels are packed: at a loop, or ahead of all loops when that is empty.
struct PackedAt {
  std::string stage, loop;
};

// The right-hand matrix, read by `consumer`, in panels.
void pack_panels(TraceWriter& t, const Right& right, Panel panel, const std::string& consumer,
                 const PackedAt& at);
// Leaves it as it lies; what only moves elements is read through.
void leave_unpacked(TraceWriter& t, const Right& right);

}  // namespace attune::templates

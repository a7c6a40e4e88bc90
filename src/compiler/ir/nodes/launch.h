// Launches: a kernel for a device with blocks and threads is a list of them, one after the other.
// Each is a statement inside of bound loops, whose extents are the launch's shape; memory that is
// allocated around launches is global. A statement without bound loops is a launch of one thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/ir/nodes/stmt.h"

namespace attune::ir {

using Extents3 = std::array<std::int64_t, 3>;  // x, y, z

struct Launch {
  Extents3 grid{1, 1, 1};           // blocks
  Extents3 block{1, 1, 1};          // threads of a block
  std::int64_t shared_bytes = 0;    // of a block, at most at one time
  std::int64_t register_bytes = 0;  // of a thread
  std::int64_t stack_bytes = 0;     // of a thread

  std::int64_t blocks() const { return grid[0] * grid[1] * grid[2]; }
  std::int64_t threads() const { return block[0] * block[1] * block[2]; }
};

struct HardwareAxis {
  bool block = false;  // or thread
  int dimension = 0;   // 0 for x
};
// "block.x" to "thread.z"; a thread's x for all other names.
HardwareAxis hardware_axis(std::string_view axis);

// In order. Extents that are not constant count as 1.
std::vector<Launch> launches_of(const Kernel& kernel);
bool has_bound_loops(const Stmt& s);
// Launches whose threads have nothing to do with each other, as loops that cores of a host run: the
// outermost of each launch in parallel. Their threads share no memory and meet at no barrier.
Stmt as_plain_loops(const Stmt& s);

}  // namespace attune::ir

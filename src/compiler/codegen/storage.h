// Where the buffers of a kernel live: offsets of the workspace for large ones, and which register
// buffers can be held as separate values.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "compiler/codegen/buffer_order.h"
#include "compiler/ir/nodes/stmt.h"

namespace attune::codegen {

// A piece of the workspace. Inside a parallel loop every worker has a slice of its own.
struct WorkspaceRange {
  std::int64_t offset = 0;
  std::int64_t slice_bytes = 0;
  bool per_worker = false;
};

struct StoragePlan {
  BufferMap<WorkspaceRange> workspace;
  std::int64_t workspace_bytes = 0;
  // Register buffers whose accesses all have constant places and never overlap in part: one value
  // per distinct place.
  BufferSet as_values;
  // Everything that is addressed through memory: parameters and the other allocations.
  std::vector<ir::Buffer> in_memory;
};

// `threads` is how many workers may run a parallel loop at once.
StoragePlan plan_storage(const ir::Kernel& kernel, int threads);

// The constant first element of an access, when it is a scalar or consecutive lanes.
std::optional<std::int64_t> constant_place(const ir::Expr& index);

// True when the parallel loop needs its workers numbered below the target's thread count.
bool uses_worker_slices(const ir::For& loop, const StoragePlan& plan);

}  // namespace attune::codegen

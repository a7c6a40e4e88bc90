// Buffers: named, typed, shaped memory that loads read and stores write.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/nodes/dtype.h"

namespace attune::ir {

// Where a buffer lives. Global: argument or workspace memory. Stack: small private memory of one
// worker. Register: every access has constant indices after unrolling and becomes a value. Shared
// and the others belong to devices with explicit memories.
enum class Scope : std::uint8_t { Global, Stack, Register, Shared, Warp, Accumulator };

struct BufferNode {
  std::string name;
  DType type;
  std::vector<std::int64_t> shape;  // row-major
  Scope scope = Scope::Global;
};
// Buffers are compared by identity of the node; names are unique within a kernel.
using Buffer = std::shared_ptr<const BufferNode>;

Buffer make_buffer(std::string name, DType type, std::vector<std::int64_t> shape,
                   Scope scope = Scope::Global);
std::int64_t element_count(const BufferNode& buffer);

}  // namespace attune::ir

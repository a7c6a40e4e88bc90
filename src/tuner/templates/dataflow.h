// Who reads whom in a program, how often, and at what cost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "compiler/ir/nodes/tensor_expr.h"

namespace attune::templates {

// How often the values of the stage read each buffer, indices included.
std::map<ir::Buffer, int> reads_of(const ir::Stage& stage);
using Reads = std::vector<std::map<ir::Buffer, int>>;  // by stage
// The stages that read a buffer of `stage`.
std::vector<const ir::Stage*> readers_of(const ir::Program& program, const ir::Stage& stage);

// Constant inputs, and what is computed from constants alone.
std::set<ir::Buffer> constants_of(const ir::Program& program);
std::set<ir::Buffer> constants_of(const ir::Program& program, const Reads& reads);
bool depends_on_constants(const ir::Program& program, const ir::Stage& stage);
// Whether all reads of the buffer are at the index that the stage itself writes.
bool reads_at_own_index(const ir::Stage& stage, const ir::Buffer& buffer);
bool is_output(const ir::Program& program, const ir::Stage& stage);

// Nodes of the stage's values that are no index arithmetic, at least 1; functions like exp count
// for many.
std::int64_t length_of(const ir::Stage& stage);
// The value is an element of another tensor, perhaps converted.
bool only_moves(const ir::Stage& stage);

// Elements that a load moves by per step of the axis, in row-major order; nothing when that is not
// the same everywhere.
std::optional<std::int64_t> stride_of(const ir::Load& load, const std::string& axis);
// The strides of all loads of the stage that are no indices themselves.
struct Strides {
  int broadcast = 0, contiguous = 0, scattered = 0;
};
Strides strides_of(const ir::Stage& stage, const std::string& axis);

}  // namespace attune::templates

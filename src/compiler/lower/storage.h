// The memory of a stage: its shape, rows padded, and where it lives when the schedule does not say.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "compiler/ir/simplify/simplify.h"
#include "compiler/schedule/bounds.h"

namespace attune::lower {

std::vector<std::int64_t> storage_shape(const schedule::StageState& stage,
                                        const schedule::StageBounds& bounds);
// An element's place in memory of that shape, from its index along the axes that are stored.
std::vector<ir::Expr> storage_place(const schedule::StageState& stage,
                                    const schedule::StageBounds& bounds,
                                    std::vector<ir::Expr> index, const ir::Ranges& ranges);
// `by_threads`: the program is for a device with blocks and threads.
ir::Scope storage_scope(const schedule::StageState& stage, const std::vector<std::int64_t>& shape,
                        bool by_threads);
// Layouts may ask for blocks far larger than the axes they hold.
Status check_storage(const schedule::State& state,
                     const std::vector<schedule::StageBounds>& bounds);

}  // namespace attune::lower

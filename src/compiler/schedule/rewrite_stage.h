// What the steps that rewrite the program share.
#pragma once

#include "compiler/ir/nodes/rewrite.h"
#include "compiler/schedule/state.h"

namespace attune::schedule {

// Maps the values of a stage and brings its accesses up to date.
void rewrite_values(StageState& stage, const ir::ExprFn& f);
// Redirects reads of `from` to `to` (same shape).
void redirect_reads(StageState& stage, const ir::Buffer& from, const ir::Buffer& to);
// A stage `name` that copies `buffer` element by element, with axes i0, i1, … or the given names.
ir::Stage copy_stage(const std::string& name, const ir::Buffer& buffer, const ir::Buffer& to,
                     const std::vector<ir::Axis>& axes);

}  // namespace attune::schedule

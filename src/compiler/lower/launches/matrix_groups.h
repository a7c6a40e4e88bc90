// Instructions of warpgroups run beside what follows them, so that lowering says when they begin
// and end.
#pragma once

#include "compiler/ir/nodes/stmt.h"

namespace attune::lower {

// Whether a statement does nothing but call such instructions, one at least.
bool only_warpgroup_calls(const ir::Stmt& s);
// The calls as one group, closed but not waited for.
ir::Stmt one_matrix_group(const ir::Stmt& calls);

}  // namespace attune::lower

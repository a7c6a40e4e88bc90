// What earlier versions called the task of an operator. Specs had programs of their own, which some
// families share with models now: the key of such a task has changed, and the names of its loops.
// Records under the former key still say which schedules are good.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/schedule/trace.h"

namespace attune::model {

struct FormerTask {
  std::string key = {};
  ir::Program program = {};  // direct
};

// The former task of an operator whose task has this key now; nothing where it is the same.
std::optional<FormerTask> former_task(const ir::Program& own, const std::string& key);

// A trace for the former program with the loops that stages of the same name have in `now`; the
// result need not fit it.
Result<schedule::Trace> renamed_loops(const std::string& trace, const ir::Program& former,
                                      const ir::Program& now);

}  // namespace attune::model

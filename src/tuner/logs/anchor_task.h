// The operator that a fused task of a model is built around, as a task of its own: AutoTVM tunes
// and logs it alone. The mapping is checked, not guessed: the operator's program must compute the
// anchor, and what prepares its operands, by the same expressions as the fused one.
#pragma once

#include <variant>

#include "compiler/frontend/op_spec/op_spec.h"
#include "compiler/target/target.h"
#include "tuner/logs/workload.h"
#include "tuner/records/task_definition.h"

namespace attune::logs {

// Spec and family are the operator's, the programs those of the fused task, in which its schedules
// are found. The target must be resolved.
std::variant<op_spec::OpTask, Unmapped> anchor_task(const records::TaskDefinition& fused,
                                                    const target::Target& target);

}  // namespace attune::logs

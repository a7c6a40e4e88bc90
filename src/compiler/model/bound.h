// The least time that a task can take on the machine of a target (compiler/target/bound.h).
#pragma once

#include <vector>

#include "compiler/graph/tasks/tasks.h"
#include "compiler/target/target.h"
#include "runtime/format/plan.h"

namespace attune::model {

// `cold` weights come from memory at every use.
double bound_us(const graph::Task& task, const target::Target& target, bool cold);

// Of one call of each kernel of a plan, whose tasks are not known any more: weights count as they
// were packed. 0: it is never called.
std::vector<double> bounds_us(const runtime::Plan& plan, const target::Target& target, bool cold);

}  // namespace attune::model

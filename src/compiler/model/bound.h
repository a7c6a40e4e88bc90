// The least time that a task can take on the machine of a target (compiler/target/bound.h).
#pragma once

#include "compiler/graph/tasks/tasks.h"
#include "compiler/target/target.h"

namespace attune::model {

// `cold` weights come from memory at every use.
double bound_us(const graph::Task& task, const target::Target& target, bool cold);

}  // namespace attune::model

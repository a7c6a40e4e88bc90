// How programs are tuned, whatever their target: the way of its kind.
#pragma once

#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/schedule/trace.h"
#include "compiler/target/target.h"
#include "tuner/tuning/tuning.h"

namespace attune::tunings {

// That of the target's kind; an error for kinds that are compiled for only.
Result<const tuning::Tuning*> find_tuning(const target::Target& target);
const tuning::Tuning& tuning_of(const target::Target& target);

// Of the cores that this process may use.
tuning::CorePlan plan_cores(const target::Target& target);

// The first template that fits; every program has one.
const space::Template& template_for(const ir::Program& program, const target::Target& target);
// The schedule without tuning.
schedule::Trace default_trace(const ir::Program& program, const target::Target& target);

}  // namespace attune::tunings

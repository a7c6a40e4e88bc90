// Inlining producers that do not reduce, as far as that does not compute much twice.
#pragma once

#include <set>
#include <string>

#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/schedule/trace.h"
#include "tuner/space/findings.h"

namespace attune::templates {

// Steps that inline, and what they leave.
struct Inlined {
  schedule::Trace steps;
  ir::Program program;
};

// `wasted_work`: nodes computed again per element, at most. What only moves values costs nothing.
// The stages that `kept` names stay. Conditions, such as where a border begins, are inlined into
// reductions only where `conditions` says that they cost nothing there.
Inlined inline_producers(const space::Subject& subject, double wasted_work,
                         const std::set<std::string>& kept = {}, bool conditions = false);

}  // namespace attune::templates

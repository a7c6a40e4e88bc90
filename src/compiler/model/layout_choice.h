// Which convolutions of a model have how many channels in a block. Blocks as wide as the vectors
// are best as a rule; where the last of them would be half empty, narrower ones may do less work,
// if not too much has to be moved between the two kinds. Costs are measured ones where records know
// them, that of moving the largest value included, whose speed holds for all; predictions in
// proportion, and a usual speed, where they do not. The choice for the whole model is the cheapest
// one (graph/layouts/labelling.h).
#pragma once

#include "compiler/graph/layouts/layouts.h"
#include "compiler/model/compile.h"

namespace attune::model {

Result<graph::LayoutPlan> choose_layouts(const graph::Graph& graph, const CompileOptions& options);

}  // namespace attune::model

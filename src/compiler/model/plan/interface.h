// The edge of a model: what its inputs and outputs are to those who run it.
#pragma once

#include <vector>

#include "base/result.h"
#include "compiler/graph/graph.h"
#include "runtime/format/plan.h"

namespace attune::model {

std::vector<runtime::Dim> dims_of(const ops::TensorType& type);
Result<runtime::InterfaceTensor> interface_of(const graph::Value& value);

}  // namespace attune::model

// The graph that an operator spec stands for, of the nodes that its family names. Activations that
// the operator takes in blocks are marked; weights are constants.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "compiler/graph/graph.h"
#include "compiler/ops/forms/family.h"

namespace attune::op_spec {

// The contents of the constant that is operand `index` of the spec, which may have its own name.
using MakeConstant = std::function<Result<ops::ConstantPtr>(
    std::string_view name, const ops::TensorType& type, int index)>;

// The graph of a family with values for its keys, which the family has accepted. Inputs and outputs
// lie in memory as the operator takes them (graph::Value::layout).
Result<graph::Graph> graph_of(const ops::Family& family, const ops::Arguments& arguments,
                              const MakeConstant& make_constant);

}  // namespace attune::op_spec

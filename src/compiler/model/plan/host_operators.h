// How the runtime's host operators are called: under their names in ONNX and with its attributes.
#pragma once

#include <string>

#include "compiler/ops/op_def.h"
#include "runtime/format/plan.h"

namespace attune::model {

struct HostOperator {
  std::string name;
  runtime::HostAttributes attributes;
};

// Fails for operators that the runtime does not have.
Result<HostOperator> host_operator(std::string_view op, const ops::Attributes& attributes);

}  // namespace attune::model

// A whole model against the interpreter, operator by operator on the graph as it was imported.
#pragma once

#include "app/api/check.h"
#include "base/result.h"

namespace attune::api {

// Fails with Unsupported for a model that would take the interpreter too long, or has control flow.
Result<CheckCase> check_graph(const CheckOptions& options);

}  // namespace attune::api

// Sample calls of control flow, with what they must give: bodies are graphs, which no line says.
#pragma once

#include "tests/support/operator_samples.h"

namespace attune::test {

std::vector<Sample> control_samples();

}  // namespace attune::test

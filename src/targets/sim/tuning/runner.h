// Measuring on the simulated device: one call of each candidate, whose time is counted. The same
// candidate takes the same time whenever and wherever it is measured, so nothing is repeated. The
// interpreter bounds and checks every access; candidates need no process of their own.
#pragma once

#include <memory>

#include "base/result.h"
#include "compiler/target/target.h"
#include "tuner/measure/runner.h"

namespace attune::sim {

Result<std::unique_ptr<measure::Runner>> start_runner(const target::Target& target);

}  // namespace attune::sim

// The simulated device as a target: `sim`, with attributes such as -multiprocessors=4. A resolved
// one has all of them.
#pragma once

#include "base/result.h"
#include "compiler/target/kind.h"
#include "compiler/target/target.h"
#include "targets/sim/device/machine.h"

namespace attune::sim {

extern const target::Kind target_kind;

// The machine that a target describes; an error says which attribute is no number it may be.
Result<Machine> machine_of(const target::Target& target);

}  // namespace attune::sim

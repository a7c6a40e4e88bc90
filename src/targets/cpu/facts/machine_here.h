// How fast the machine at hand is: measured once, and remembered in a file.
#pragma once

#include <functional>

#include "base/result.h"
#include "compiler/target/machine.h"
#include "compiler/target/target.h"
#include "tuner/measure/probe/speed/speed.h"

namespace attune::cpu {

// As it was measured before on at least as many cores as this process uses, else measured now (a
// third of a second) and written to XDG_CACHE_HOME or ~/.cache, in a file for this machine and
// target. What the processor's name says where that makes no sense, and where the environment says
// ATTUNE_MACHINE=stated, as tests do. `target` is resolved but for its machine, and is this one.
target::Machine machine_here(const target::Target& target);

// Measures it anew, whatever is remembered, and remembers that, unless others had the cores
// meanwhile. An error says why the figures are not used.
Result<target::Machine> measure_machine(const target::Target& target);

// The same by other means.
using MeasureSpeed = std::function<Result<probe::Speed>()>;
Result<target::Machine> measure_machine(const target::Target& target, const MeasureSpeed& measure);

}  // namespace attune::cpu

// The template of the simulated device: it fits every program.
#pragma once

#include "tuner/space/template.h"

namespace attune::sim {

space::Template launches();

}  // namespace attune::sim

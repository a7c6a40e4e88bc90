// The templates: how each family of programs is scheduled on a CPU, with the knobs that tuning
// turns. The list is explicit; a new family is its own file and one line in list.inc.
#pragma once

#include <span>

#include "tuner/space/template.h"

namespace attune::templates {

std::span<const space::Template> all();

// The first template that fits; every program has one, the last fits all.
const space::Template& template_for(const ir::Program& program);

// The schedule without tuning.
schedule::Trace default_trace(const ir::Program& program, const target::Target& target);

}  // namespace attune::templates

// The templates for devices with blocks and threads, as target.launch describes them. The list is
// explicit; a new family is its own file here and one line in list.inc.
#pragma once

#include <span>

#include "tuner/space/template.h"

namespace attune::templates {

// The first that fits schedules a program; the last fits all.
std::span<const space::Template> launches();

#define ATTUNE_LAUNCH_TEMPLATE(name) space::Template launch_##name();
#include "tuner/templates/launches/list.inc"

}  // namespace attune::templates

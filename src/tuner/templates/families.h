// One function per template, each in the file of its name.
#pragma once

#include "tuner/space/template.h"

namespace attune::templates {

#define ATTUNE_TEMPLATE(name) space::Template name();
#include "tuner/templates/list.inc"

}  // namespace attune::templates

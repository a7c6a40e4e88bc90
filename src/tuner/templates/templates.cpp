#include "tuner/templates/templates.h"

#include "base/check.h"
#include "tuner/templates/families.h"

namespace attune::templates {

std::span<const space::Template> all() {
  static const space::Template list[] = {
#define ATTUNE_TEMPLATE(name) name(),
#include "tuner/templates/list.inc"
  };
  return list;
}

const space::Template& template_for(const ir::Program& program) {
  space::Findings findings;
  for (const space::Template& candidate : all()) {
    if (candidate.fits({program, findings})) return candidate;
  }
  CHECK(false, "the last template fits every program");
}

schedule::Trace default_trace(const ir::Program& program, const target::Target& target) {
  return space::default_trace(template_for(program), program, target);
}

}  // namespace attune::templates

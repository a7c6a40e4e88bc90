#include "tuner/templates/launches/launches.h"

namespace attune::templates {

std::span<const space::Template> launches() {
  static const space::Template list[] = {
#define ATTUNE_LAUNCH_TEMPLATE(name) launch_##name(),
#include "tuner/templates/launches/list.inc"
  };
  return list;
}

}  // namespace attune::templates

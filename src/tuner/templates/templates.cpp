#include "tuner/templates/templates.h"

#include "base/check.h"
#include "tuner/templates/families.h"

namespace attune::templates {

std::span<const space::Template> all() {
  static const space::Template list[] = {
      gemm(),        strassen(), conv2d(), winograd(),   conv2d_transpose(),
      conv2d_gemm(), window(),   rows(),   elementwise()};
  return list;
}

const space::Template& template_for(const ir::Program& program) {
  for (const space::Template& candidate : all()) {
    if (candidate.fits(program)) return candidate;
  }
  CHECK(false, "the last template fits every program");
}

schedule::Trace default_trace(const ir::Program& program, const target::Target& target) {
  return space::default_trace(template_for(program), program, target);
}

}  // namespace attune::templates

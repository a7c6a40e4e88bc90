#include "tuner/tunings/tunings.h"

#include <fmt/format.h>

#include "runtime/execution/usable_cores.h"

#define ATTUNE_TUNING(kind)                  \
  namespace attune::kind {                   \
  extern const tuning::Tuning target_tuning; \
  }
#include "targets/list.inc"

namespace attune::tunings {

Result<const tuning::Tuning*> find_tuning(const target::Target& target) {
  static constexpr const tuning::Tuning* all[] = {
#define ATTUNE_TUNING(kind) &kind::target_tuning,
#include "targets/list.inc"
  };
  for (const tuning::Tuning* tuning : all) {
    if (tuning->kind == target.kind) return tuning;
  }
  return unsupported(fmt::format("programs for '{}' cannot be tuned or run", target.kind),
                     "compile works for any target");
}

const tuning::Tuning& tuning_of(const target::Target& target) {
  const auto found = find_tuning(target);
  CHECK(found.ok(), found.error().message);
  return **found;
}

tuning::CorePlan plan_cores(const target::Target& target) {
  return tuning_of(target).plan_cores(runtime::usable_cores(target.threads), target);
}

namespace {

const space::Template& first_fitting(const space::Subject& subject, const target::Target& target) {
  const auto templates = tuning_of(target).templates();
  for (const space::Template& candidate : templates) {
    if (candidate.fits_on(subject, target)) return candidate;
  }
  CHECK(false, "the last template fits every program");
  return templates.back();
}

}  // namespace

const space::Template& template_for(const ir::Program& program, const target::Target& target) {
  space::Findings findings;
  return first_fitting({program, findings}, target);
}

schedule::Trace default_trace(const ir::Program& program, const target::Target& target) {
  space::Findings findings;
  const space::Subject subject{program, findings};
  return space::default_trace(first_fitting(subject, target), subject, target);
}

}  // namespace attune::tunings

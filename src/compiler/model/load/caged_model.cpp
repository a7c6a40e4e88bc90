#include "compiler/model/load/caged_model.h"

#include "base/cage/cage.h"
#include "targets/kinds.h"
#include "tuner/tunings/tunings.h"

namespace attune::model {

IsolationLimits limits_for(const RunnableModel& model, double seconds) {
  return {.seconds = seconds,
          .limits_addresses = model.plan().kernel_space == runtime::Space::Host};
}

Status enter_cage(const RunnableModel& model) {
  ATTUNE_ASSIGN(const target::Target target, targets::parse(model.plan().target));
  ATTUNE_ASSIGN(const tuning::Tuning* tuning, tunings::find_tuning(target));
  // Often since the start; where nobody knew the model then, from here.
  if (limits_for(model).limits_addresses) limit_memory(-1);
  return attune::enter_cage(tuning->cage, {});
}

}  // namespace attune::model

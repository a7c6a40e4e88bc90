#include "compiler/model/load/caged_model.h"

#include "base/cage.h"
#include "targets/kinds.h"
#include "tuner/tunings/tunings.h"

namespace attune::model {

Status enter_cage(const RunnableModel& model) {
  ATTUNE_ASSIGN(const target::Target target, targets::parse(model.plan().target));
  ATTUNE_ASSIGN(const tuning::Tuning* tuning, tunings::find_tuning(target));
  return attune::enter_cage(tuning->cage, {});  // memory is limited since the start
}

}  // namespace attune::model

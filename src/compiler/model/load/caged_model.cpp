#include "compiler/model/load/caged_model.h"

#include <algorithm>

#include "base/cage/cage.h"
#include "targets/kinds.h"
#include "tuner/tunings/tunings.h"

namespace attune::model {

IsolationLimits limits_for(const RunnableModel& model, double seconds) {
  return {.seconds = seconds,
          .limits_addresses = model.plan().kernel_space == runtime::Space::Host};
}

IsolationLimits limits_with_outputs(const RunnableModel& model, double seconds) {
  constexpr std::int64_t kMost = std::int64_t{8} << 30;
  std::int64_t bytes = 0;
  for (const runtime::InterfaceTensor& output : model.plan().outputs) {
    // The plan was validated: each has a size, and all are added as long as that means anything.
    bytes = std::min(kMost, bytes + runtime::maximal_bytes(output.type, output.dims).value());
  }
  IsolationLimits limits = limits_for(model, seconds);
  limits.answer_bytes += static_cast<std::size_t>(bytes);
  return limits;
}

Status enter_cage(const RunnableModel& model) {
  ATTUNE_ASSIGN(const target::Target target, targets::parse(model.plan().target));
  ATTUNE_ASSIGN(const tuning::Tuning* tuning, tunings::find_tuning(target));
  // Often since the start; where nobody knew the model then, from here.
  if (limits_for(model).limits_addresses) limit_memory(-1);
  return attune::enter_cage(tuning->cage, {});
}

}  // namespace attune::model

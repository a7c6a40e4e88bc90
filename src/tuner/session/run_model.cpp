#include "tuner/session/run_model.h"

#include <utility>

#include "tuner/session/model_agenda.h"

namespace attune::session {

Status run_model(const std::vector<WeightedSession>& sessions, const ModelBudget& budget,
                 Admission& admission, const Clock& clock,
                 const std::function<void(const ModelProgress&)>& progressed,
                 const std::atomic<bool>& stop, Usage* usage, std::vector<RunStage> run_stages) {
  const auto agenda = make_model_agenda(sessions, budget, clock, progressed);
  std::vector<Session*> driven;
  for (const WeightedSession& each : sessions) driven.push_back(each.session);
  Usage used;
  const Status status =
      drive(driven, *agenda, admission, clock, &stop, used, std::move(run_stages));
  if (usage != nullptr) *usage = used;
  return status;
}

Status run_model(const std::vector<WeightedSession>& sessions, const ModelBudget& budget,
                 const Machine& machine, const Clock& clock,
                 const std::function<void(const ModelProgress&)>& progressed,
                 const std::atomic<bool>& stop, Usage* usage) {
  LocalAdmission admission(machine);
  return run_model(sessions, budget, admission, clock, progressed, stop, usage);
}

}  // namespace attune::session

// What run_model drives: which rounds of which tasks are given out next, and which stages of them
// may run.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "tuner/session/driver.h"
#include "tuner/session/run_model.h"

namespace attune::session {

// All must outlive it.
std::unique_ptr<Agenda> make_model_agenda(
    const std::vector<WeightedSession>& sessions, const ModelBudget& budget, const Clock& clock,
    const std::function<void(const ModelProgress&)>& progressed);

}  // namespace attune::session

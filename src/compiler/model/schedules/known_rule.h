// The rule by which a task gets its schedule: the best record wins; where that is of the default
// schedule alone, or there is none, what ships with the program comes first, else the default.
#pragma once

#include <functional>
#include <optional>

#include "compiler/model/schedules/schedules.h"

namespace attune::model {

// Where schedules come from. To predict a default takes longer than all else: it is asked for only
// where the choice depends on it.
struct ScheduleSources {
  std::optional<Schedule> record = {};  // the best one
  // What ships and comes before this schedule, were it the default one.
  std::function<std::optional<Schedule>(const Schedule& instead)> shipped;
  std::function<Schedule()> untuned;  // by default
};

Schedule known_rule(const ScheduleSources& sources);

}  // namespace attune::model

#include "compiler/model/schedules/known_rule.h"

namespace attune::model {
namespace {

bool same_trace(const Schedule& one, const Schedule& other) {
  return schedule::hash(one.trace) == schedule::hash(other.trace);
}

}  // namespace

Schedule known_rule(const ScheduleSources& sources) {
  if (!sources.record) {
    const Schedule untuned = sources.untuned();
    return sources.shipped(untuned).value_or(untuned);
  }
  const std::optional<Schedule> shipped = sources.shipped(*sources.record);
  const bool gives_way = shipped && same_trace(*sources.record, sources.untuned());
  return gives_way ? *shipped : *sources.record;
}

}  // namespace attune::model

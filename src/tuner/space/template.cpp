#include "tuner/space/template.h"

namespace attune::space {

schedule::Trace default_trace(const Template& schedule_template, const Subject& subject,
                              const target::Target& target) {
  const std::vector<Knob> knobs = schedule_template.knobs(subject, target);
  const Config config = nearest_config(knobs, schedule_template.default_values(subject, target));
  return schedule_template.trace(subject, target, Values(knobs, config));
}

schedule::Trace default_trace(const Template& schedule_template, const ir::Program& program,
                              const target::Target& target) {
  Findings findings;
  return default_trace(schedule_template, Subject{program, findings}, target);
}

}  // namespace attune::space

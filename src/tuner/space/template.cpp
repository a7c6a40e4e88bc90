#include "tuner/space/template.h"

namespace attune::space {

schedule::Trace default_trace(const Template& schedule_template, const ir::Program& program,
                              const target::Target& target) {
  const std::vector<Knob> knobs = schedule_template.knobs(program, target);
  const Config config = nearest_config(knobs, schedule_template.default_values(program, target));
  return schedule_template.trace(program, target, Values(knobs, config));
}

}  // namespace attune::space

// A template: how a kind of program is scheduled, with knobs for what is left open (AutoTVM, Chen
// et al. 2018). Plain functions in a plain struct; the list of all templates is an explicit one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/schedule/performed.h"
#include "compiler/target/target.h"
#include "tuner/space/config.h"

namespace attune::space {

// A schedule as a template writes it: its steps, without `algorithm`, which the space puts in
// front, with their state where the template performs them as it goes.
using Written = schedule::Performed;

// Writes schedules: a function that gives either.
class Writes {
 public:
  using Steps = schedule::Trace (*)(const ir::Program&, const target::Target&, const Values&);
  using Performed = Written (*)(const ir::Program&, const target::Target&, const Values&);
  constexpr Writes(Steps steps) : steps_(steps) {}
  constexpr Writes(Performed performed) : performed_(performed) {}

  Written written(const ir::Program& program, const target::Target& target,
                  const Values& values) const {
    if (performed_ != nullptr) return performed_(program, target, values);
    return {steps_(program, target, values), std::nullopt};
  }
  schedule::Trace operator()(const ir::Program& program, const target::Target& target,
                             const Values& values) const {
    return written(program, target, values).trace;
  }

 private:
  Steps steps_ = nullptr;
  Performed performed_ = nullptr;
};

struct Template {
  std::string_view name;
  // Whether the template knows how to schedule the program.
  bool (*fits)(const ir::Program&);
  // The same list for the same program and target, always.
  std::vector<Knob> (*knobs)(const ir::Program&, const target::Target&);
  Writes trace;
  // A good choice without measuring; a knob takes the choice that is nearest.
  Settings (*default_values)(const ir::Program&, const target::Target&);
  // A few words ("too few accumulators") when the choice is hopeless; may be null. Called before
  // the trace is made, so it is the cheapest place to say no.
  std::optional<std::string> (*reject)(const ir::Program&, const target::Target&,
                                       const Values&) = nullptr;
  // Of one that not all targets have the units for: whether this one has; null: all have.
  bool (*fits_target)(const ir::Program&, const target::Target&) = nullptr;
  // Whether it schedules the program for the target too, beside the first that fits it; may be
  // null.
  bool (*beside)(const ir::Program&, const target::Target&) = nullptr;

  bool fits_on(const ir::Program& program, const target::Target& target) const {
    return fits(program) && (fits_target == nullptr || fits_target(program, target));
  }
};

// The trace of the default choice, as the knobs can express it.
schedule::Trace default_trace(const Template& schedule_template, const ir::Program& program,
                              const target::Target& target);

}  // namespace attune::space

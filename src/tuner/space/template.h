// A template: how a kind of program is scheduled, with knobs for what is left open (AutoTVM, Chen
// et al. 2018). Plain functions in a plain struct; the list of all templates is an explicit one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/nodes/tensor_expr.h"
#include "compiler/schedule/performed.h"
#include "compiler/target/target.h"
#include "tuner/space/config.h"
#include "tuner/space/findings.h"

namespace attune::space {

// A schedule as a template writes it: its steps, without `algorithm`, which the space puts in
// front, with their state where the template performs them as it goes.
using Written = schedule::Performed;

// A function of a template, of the program alone, or of what was found out about it before too.
template <typename Answer, typename... More>
class Asks {
 public:
  using OfProgram = Answer (*)(const ir::Program&, More...);
  using OfSubject = Answer (*)(const Subject&, More...);
  constexpr Asks(std::nullptr_t) {}
  constexpr Asks(OfProgram of_program) : of_program_(of_program) {}
  constexpr Asks(OfSubject of_subject) : of_subject_(of_subject) {}

  explicit operator bool() const { return of_program_ != nullptr || of_subject_ != nullptr; }
  Answer operator()(const Subject& subject, More... more) const {
    if (of_subject_ != nullptr) return of_subject_(subject, more...);
    return of_program_(subject.program, more...);
  }

 private:
  OfProgram of_program_ = nullptr;
  OfSubject of_subject_ = nullptr;
};

// Writes schedules: a function that gives steps, or what is written.
class Writes {
 public:
  using Steps = schedule::Trace (*)(const ir::Program&, const target::Target&, const Values&);
  using Performed = Written (*)(const Subject&, const target::Target&, const Values&);
  constexpr Writes(Steps steps) : steps_(steps) {}
  constexpr Writes(Performed performed) : performed_(performed) {}

  Written written(const Subject& subject, const target::Target& target,
                  const Values& values) const {
    if (performed_ != nullptr) return performed_(subject, target, values);
    return {steps_(subject.program, target, values), std::nullopt};
  }
  schedule::Trace operator()(const Subject& subject, const target::Target& target,
                             const Values& values) const {
    return written(subject, target, values).trace;
  }

 private:
  Steps steps_ = nullptr;
  Performed performed_ = nullptr;
};

struct Template {
  std::string_view name;
  // Whether the template knows how to schedule the program.
  Asks<bool> fits;
  // The same list for the same program and target, always.
  Asks<std::vector<Knob>, const target::Target&> knobs;
  Writes trace;
  // A good choice without measuring; a knob takes the choice that is nearest.
  Asks<Settings, const target::Target&> default_values;
  // A few words ("too few accumulators") when the choice is hopeless; may be null. Called before
  // the trace is made, so it is the cheapest place to say no.
  Asks<std::optional<std::string>, const target::Target&, const Values&> reject = nullptr;
  // Of one that not all targets have the units for: whether this one has; null: all have.
  Asks<bool, const target::Target&> fits_target = nullptr;
  // Whether it schedules the program for the target too, beside the first that fits it; may be
  // null.
  Asks<bool, const target::Target&> beside = nullptr;

  bool fits_on(const Subject& subject, const target::Target& target) const {
    return fits(subject) && (!fits_target || fits_target(subject, target));
  }
};

// The trace of the default choice, as the knobs can express it.
schedule::Trace default_trace(const Template& schedule_template, const Subject& subject,
                              const target::Target& target);
schedule::Trace default_trace(const Template& schedule_template, const ir::Program& program,
                              const target::Target& target);

}  // namespace attune::space

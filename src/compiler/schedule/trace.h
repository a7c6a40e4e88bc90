// A schedule is a trace: a list of steps. It prints as one line per step, parses back, hashes, and
// replays on the State of any program that has the roles and loops it names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/schedule/state.h"
#include "compiler/schedule/step.h"

namespace attune::schedule {

using Trace = std::vector<Step>;

// "split output ow 4", without a line end.
std::string to_string(const Step& step);
std::string to_string(const Trace& trace);
// Errors name line and reason.
Result<Trace> parse_trace(std::string_view text);

std::uint64_t hash(const Trace& trace);

// One step on a state; the error names stage, loop, numbers and reason.
Status perform(State& state, const Step& step);
// All steps on the unscheduled program; the error names the step's line too.
Result<State> replay(const ir::Program& program, const Trace& trace);

}  // namespace attune::schedule

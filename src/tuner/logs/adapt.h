// Hints of an operator for the tasks of models that are built around it: a log knows a convolution,
// a model has one with bias and activation behind it. What the two share is the anchor; the knobs
// mean the same for both.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/schedule/trace.h"
#include "tuner/records/hint.h"
#include "tuner/space/template_space.h"

namespace attune::logs {

// Stable hash of the anchor and of what prepares its operands, whatever follows it; "" for a
// program without one. Takes the direct program of a task.
std::string anchor_key(const ir::Program& direct);

// "winograd4 tile=6x2 rows=4": an algorithm and the choices of its knobs.
std::string config_text(const std::string& algorithm, const space::TemplateSpace& space,
                        const space::Point& point);

// The schedules of a task that are nearest to the hints' configurations, in the order of the hints,
// each once. Hints for algorithms that are not among the programs are left out.
std::vector<schedule::Trace> adapt_hints(std::span<const records::Hint> hints,
                                         std::span<const space::NamedProgram> programs,
                                         const target::Target& target);

}  // namespace attune::logs

// Whether `compile` may time schedules for a target, and what it says where it may not.
#pragma once

#include <string>

#include "compiler/target/target.h"

namespace attune::verbs {

// Both of resolved targets; `here` is this machine, of which this process may use so many cores.

// Only a machine whose speed was measured, with a core for each thread: this one.
bool may_time(const target::Target& target, int cores);
// Why not, and what helps, in a sentence; empty where that is as asked for: for another machine.
std::string why_not_timed(const target::Target& target, const target::Target& here, int cores);

}  // namespace attune::verbs

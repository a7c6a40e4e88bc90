// The part of a program that a template does not schedule itself: what is left of it after
// inlining, every reduction in tiles of registers and all else spread over threads.
#pragma once

#include <set>

#include "tuner/templates/launches/general_tiles.h"

namespace attune::templates {

struct WholeProgram {
  Tiling tiling;  // of reductions
  std::int64_t threads = 64, per_thread = 1;
};

// Schedules the stages of `program`, which is what `writer` began with, that `done` does not name.
// What depends on constants alone is computed ahead of time, by all threads too.
void write_others(LaunchWriter& writer, const ir::Program& program,
                  const std::set<std::string>& done, const WholeProgram& how);

// The one stage that reads the reduction, at its own position and nowhere else; null: there is
// none, or it reduces itself.
const ir::Stage* host_of(const ir::Program& program, const ir::Stage& reduction);

// Whether most of what a reduction reads is read once: what is read again had better be near.
bool reads_once(const ir::Stage& reduction);

}  // namespace attune::templates

// Whether this machine can run what was loaded: its target, its threads and its memory. Asked
// before anything is begun.
#pragma once

#include "base/result.h"
#include "compiler/model/load/model.h"
#include "compiler/target/target.h"

namespace attune::model {

// Fails when the target is not this machine, or asks for more threads than this process has cores:
// such a program can be compiled, but not run here.
Status check_runs_here(const target::Target& target);
// The same where this many cores can be had.
Status check_runs_on(const target::Target& target, int cores);
// The second half of it.
Status check_threads(int threads);
Status check_threads(int threads, int cores);

// What a model is run for.
enum class Purpose { Run, Tune };
// Fails when what it is sure to need for that does not fit into this machine's memory.
Status check_fits_memory(const LoadedModel& model, Purpose purpose);

}  // namespace attune::model

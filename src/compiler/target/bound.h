// The least time that a piece of work can take on a machine: what its cores must compute or what
// memory must deliver, whichever takes longer, and one start of the cores, or one launch (the
// roofline of Williams, Waterman and Patterson 2009).
#pragma once

#include "compiler/target/target.h"

namespace attune::target {

struct Work {
  double flops = 0;       // nominal ones, of f32
  double bytes = 0;       // that are read or written once at least
  double cold_bytes = 0;  // of them, those that lie in memory whenever the work begins
};

// On the target's threads. Algorithms that need fewer operations can take less.
double bound_us(const Work& work, const Target& target);

}  // namespace attune::target

// Rows of a buffer that lie a multiple of some bytes apart share the lines of the first-level
// cache, and push each other out of it although it is large enough.
#pragma once

#include "tuner/space/spans.h"

namespace attune::space {

inline constexpr std::int64_t kAliasBytes = 4096;

// How many such rows of a row-major buffer one step reads.
double aliased_rows(const schedule::Access& access, const Spans& step);

}  // namespace attune::space

// Register tiles of matrix products: which shape suits panels that come from far, and the loops of
// one tile.
#pragma once

#include "tuner/space/template.h"
#include "tuner/templates/trace_writer.h"

namespace attune::templates {

inline constexpr std::int64_t kElementBytes = 4;

// A product whose right-hand matrix lies in panels.
struct Panels {
  std::int64_t rows;       // of the left-hand matrix
  std::int64_t vectors;    // in a row of the right-hand one
  std::int64_t row_bytes;  // of the left-hand matrix
};

// The tile for panels that lie ready and come from far: narrow ones, so that there are several for
// each thread and the next one can be asked for early, split evenly between threads.
space::Choice streamed_tile(const space::Knob& tiles, const Panels& panels,
                            const target::Target& target);

// The loops of one register tile of `stage`, whose own axes are i and j and reduction `k`, by the
// knobs `tile` (rows, vectors), `unroll` and `prefetch`, and `held` where there is such a knob.
void register_tile(TraceWriter& t, const std::string& stage, const std::string& k,
                   const space::Values& values, std::int64_t lanes);

}  // namespace attune::templates

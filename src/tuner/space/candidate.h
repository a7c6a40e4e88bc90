// A candidate from its proposal to the search that hears what became of it: one value for
// explorers, learners, sessions and builders alike.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/schedule/trace.h"
#include "tuner/space/space.h"

namespace attune::space {

struct Candidate {
  schedule::Trace trace;
  std::uint64_t trace_hash = 0;
  std::optional<Point> point = {};  // in the space of the search; none: it came from elsewhere
  double predicted_us = 0;          // 0: no prediction
  std::int64_t number = 0;          // in its session, from 0
  // Of one that was tried. Without a time it failed by its own fault (did not build, crashed, was
  // too slow to finish, gave a wrong answer); what the infrastructure lost was not tried.
  std::optional<double> time_us = {};
};

}  // namespace attune::space

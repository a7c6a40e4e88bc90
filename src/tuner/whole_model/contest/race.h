// Timing several artifacts of one model against each other, in turns, in a child process: the last
// word on which of them is fastest.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/model/load/input_files.h"

namespace attune::whole_model {

struct RaceOptions {
  double seconds = 3;  // altogether, if that makes the least number of rounds
  int rounds = 32;
  int least_rounds = 8;  // from here on it ends as soon as one has clearly won
};

// The latency of each artifact in milliseconds: the median over rounds of the fastest call of a
// round.
Result<std::vector<double>> race(const std::vector<std::string>& artifacts,
                                 const model::ReadInputs& inputs, const RaceOptions& options);

}  // namespace attune::whole_model

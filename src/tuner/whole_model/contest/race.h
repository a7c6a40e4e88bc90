// Timing several artifacts of one model against each other, in turns, in a child process: the last
// word on which of them is fastest. A turn is a burst of calls, timed as if the artifact ran alone
// (burst.h), by the clock of the device (ModelSession::time_us). Turns are taken until an interval
// decides (standings.h); the first artifact stays unless another is faster beyond doubt, or as
// likely faster as its parts, which were timed by themselves, promise.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "compiler/model/load/input_files.h"

namespace attune::whole_model {

struct RaceOptions {
  double seconds = 3;       // altogether, if that makes the least number of rounds
  double open_seconds = 6;  // the same while it is open whether the first is beaten
  int rounds = 32;          // in the first of these times
  int least_rounds = 8;     // after so many, and so many more, it is asked whether all is decided
  // What the others need of the time of the first, by the times of their parts alone.
  double promised = 1;
};

// Slow models make little more than the least rounds in open_seconds, of which a single one that is
// disturbed leaves the race open. So they go on until there are so many times as many, or for so
// many times as long. Budgets of tuning reserve `seconds`: what slow models take beyond that comes
// on top, as the least rounds do. The child process may take far longer (time_limit.h).
inline constexpr int kEnoughRounds = 3;
inline constexpr double kLongestOpen = 5;

// Behind so many seconds of tuning: no large part of a short run, for whose end others may wait.
RaceOptions race_behind(double tuning_seconds);

struct RaceResult {
  std::vector<double> latency_ms = {};  // of each: the median over its turns
  std::size_t winner = 0;
};

// Those who race: how long a call of one takes in a turn of so many seconds.
struct Turns {
  std::size_t runners = 0;
  std::function<Result<double>(std::size_t runner, double seconds)> take = {};
  // Times are counted, and were the same in every call so far.
  std::function<bool()> exact = [] { return false; };
};
Result<RaceResult> race_in_turns(const Turns& turns, const Clock& clock,
                                 const RaceOptions& options);

Result<RaceResult> race(const std::vector<std::string>& artifacts, const model::ReadInputs& inputs,
                        const RaceOptions& options);

}  // namespace attune::whole_model

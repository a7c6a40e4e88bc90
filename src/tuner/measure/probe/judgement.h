// What the server says of a candidate whose worker ended or did not answer.
#pragma once

#include <optional>

#include "tuner/measure/probe/exchange.h"

namespace attune::probe {

// By the wait status of the worker; nothing: it closed its end and had to be killed. `ran`: it had
// said that a kernel runs.
void blame_exit(Report& verdict, std::optional<int> status, bool ran, const Progress& progress,
                const MeasureOptions& options);
// The kernel ended it because its group had no memory left.
void blame_memory(Report& verdict, outcome::Phase phase, const Progress& progress,
                  const MeasureOptions& options);
// No answer in time, in that phase.
void blame_silence(Report& verdict, outcome::Phase phase, const Progress& progress,
                   const MeasureOptions& options);

// Times that are some; zeros, which say that nothing is known, for others.
SentinelReading sane(const SentinelReading& said);

}  // namespace attune::probe

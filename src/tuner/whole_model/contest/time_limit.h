// For how long a child process may time artifacts that it was given so many seconds for: a model
// that hangs does not keep a race for an hour.
#pragma once

#include <cstddef>

namespace attune::whole_model {

// Loading and the first calls take what they take, and a call of a slow model is longer than its
// turn; beyond all that something is wrong.
inline double time_limit(double budget_seconds, std::size_t artifacts) {
  constexpr double kBegin = 300, kBeginOfEach = 60, kTimesBudget = 100;
  return kBegin + kBeginOfEach * static_cast<double>(artifacts) + kTimesBudget * budget_seconds;
}

}  // namespace attune::whole_model

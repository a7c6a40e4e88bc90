// One turn of an artifact in a race: calls in a row, timed as they are when nothing else runs. What
// ran before has pushed code and weights out of the caches; where they just fit the last one, it
// takes several calls until all of them are back, and more for one artifact than for another. So a
// burst counts only from when calls no longer get faster.
#pragma once

#include <functional>

#include "base/clock.h"
#include "base/result.h"

namespace attune::whole_model {

// Whether calls that get back what they had in the caches are done with that. One is, at least.
class WarmUp {
 public:
  // Whether it was faster than all before it.
  bool add(double call_ms);
  bool settled() const { return calls_ > 0 && not_faster_ >= kNotFaster; }
  int calls() const { return calls_; }

 private:
  static constexpr int kNotFaster = 2;     // calls in a row; a single one may be disturbed
  static constexpr double kFaster = 0.01;  // a share of the fastest before
  double fastest_ms_ = 0;
  int calls_ = 0, not_faster_ = 0;
};

// The median of calls of `call_ms`, each of which says how long it took, within the time given; one
// at least. Before that, calls that warm up: one, and more while they get faster, for no longer
// than kWarmUpTurns times as long. Those that show that it is warm count: they were warm.
inline constexpr double kWarmUpTurns = 4;
Result<double> burst_ms(const std::function<Result<double>()>& call_ms, const Clock& clock,
                        double seconds);

}  // namespace attune::whole_model

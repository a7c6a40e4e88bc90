#include "tuner/whole_model/contest/burst.h"

#include <algorithm>
#include <vector>

namespace attune::whole_model {

void WarmUp::add(double call_ms) {
  const bool faster = calls_++ == 0 || call_ms < (1 - kFaster) * fastest_ms_;
  not_faster_ = faster ? 0 : not_faster_ + 1;
  fastest_ms_ = calls_ == 1 ? call_ms : std::min(fastest_ms_, call_ms);
}

Result<double> burst_ms(const std::function<Result<double>()>& call_ms, const Clock& clock,
                        double seconds) {
  WarmUp warm_up;
  for (const std::int64_t start = clock.now_ns();
       !warm_up.settled() &&
       (warm_up.calls() == 0 || seconds_between(start, clock.now_ns()) < kWarmUpTurns * seconds);) {
    ATTUNE_ASSIGN(const double ms, call_ms());
    warm_up.add(ms);
  }
  std::vector<double> calls_ms;
  const std::int64_t start = clock.now_ns();
  do {
    ATTUNE_ASSIGN(const double ms, call_ms());
    calls_ms.push_back(ms);
  } while (seconds_between(start, clock.now_ns()) < seconds);
  const auto middle = calls_ms.begin() + std::ssize(calls_ms) / 2;
  std::nth_element(calls_ms.begin(), middle, calls_ms.end());
  return *middle;
}

}  // namespace attune::whole_model

#include "tuner/whole_model/contest/burst.h"

#include <algorithm>
#include <vector>

namespace attune::whole_model {

bool WarmUp::add(double call_ms) {
  const bool faster = calls_++ == 0 || call_ms < (1 - kFaster) * fastest_ms_;
  not_faster_ = faster ? 0 : not_faster_ + 1;
  fastest_ms_ = calls_ == 1 ? call_ms : std::min(fastest_ms_, call_ms);
  return faster;
}

Result<double> burst_ms(const std::function<Result<double>()>& call_ms, const Clock& clock,
                        double seconds) {
  const std::int64_t start = clock.now_ns();
  std::int64_t counted_from = start;
  std::vector<double> calls_ms;
  const auto forget = [&] {
    calls_ms.clear();
    counted_from = clock.now_ns();
  };
  WarmUp warm_up;
  while (!warm_up.settled() && (warm_up.calls() == 0 ||
                                seconds_between(start, clock.now_ns()) < kWarmUpTurns * seconds)) {
    ATTUNE_ASSIGN(const double ms, call_ms());
    calls_ms.push_back(ms);
    if (warm_up.add(ms)) forget();
  }
  if (!warm_up.settled()) forget();
  while (calls_ms.empty() || seconds_between(counted_from, clock.now_ns()) < seconds) {
    ATTUNE_ASSIGN(const double ms, call_ms());
    calls_ms.push_back(ms);
  }
  const auto middle = calls_ms.begin() + std::ssize(calls_ms) / 2;
  std::nth_element(calls_ms.begin(), middle, calls_ms.end());
  return *middle;
}

}  // namespace attune::whole_model

// Unix seconds of a clock that never goes back: the machine's clock is asked once, and from then on
// the steady one. Setting the machine's clock changes no lease and no order of events.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace attune::server {

class UnixClock {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  UnixClock()
      : unix_start_(static_cast<double>(unix_time_ms()) * 1e-3),
        steady_start_(std::chrono::steady_clock::now()) {}

  double now() const {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - steady_start_;
    return unix_start_ + since.count();
  }
  // The same moment, to wait for.
  Moment moment_of(double unix_seconds) const {
    const std::chrono::duration<double> after(unix_seconds - unix_start_);
    return steady_start_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(after);
  }

 private:
  double unix_start_;
  Moment steady_start_;
};

}  // namespace attune::server

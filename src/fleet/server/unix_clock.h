// Unix seconds of a clock that never goes back: the machine's clock is asked once, and from then on
// the time since it was started, which goes on while the machine sleeps. Setting the machine's
// clock changes no lease and no order of events; after a sleep the times are right, and the sleep
// is a gap that does not count (lease_clock.h).
#pragma once

#include <time.h>

#include <chrono>
#include <cmath>
#include <functional>

#include "base/clock.h"

namespace attune::server {

class UnixClock {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  // Seconds since the machine was started, those included in which it slept; and Unix seconds by
  // the machine's clock, which may be set at any time.
  using Uptime = std::function<double()>;
  using Wall = std::function<double()>;

  explicit UnixClock(Uptime uptime = system_uptime, Wall wall = system_wall)
      : uptime_(std::move(uptime)),
        wall_(std::move(wall)),
        unix_start_(wall_()),
        uptime_start_(uptime_()) {}

  double now() const { return unix_start_ + (uptime_() - uptime_start_); }
  // How far the machine's clock was set since this one was begun.
  double set_since() const { return std::abs(wall_() - now()); }
  // So long from now, to wait for: what is slept meanwhile comes on top.
  Moment moment_of(double unix_seconds) const {
    const std::chrono::duration<double> after(unix_seconds - now());
    return std::chrono::steady_clock::now() +
           std::chrono::duration_cast<std::chrono::steady_clock::duration>(after);
  }

 private:
  static double system_uptime() {
    timespec time = {};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

  static double system_wall() { return static_cast<double>(unix_time_ms()) * 1e-3; }

  Uptime uptime_;
  Wall wall_;
  double unix_start_, uptime_start_;
};

}  // namespace attune::server

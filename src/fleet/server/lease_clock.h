// Which time counts against the lease of a worker and the deadline of a stage: only that in which
// it could have been heard and answered. While the scheduler is stopped, asleep with its machine,
// starved of its core or still starting, and while its disk holds back what workers wait for, this
// clock stands still. It is looked at every `tick_seconds` or more often, so that a much longer
// time between two looks was a stall.
#pragma once

#include <algorithm>

namespace attune::server {

// The times of one scheduler, from the length of its leases.
inline double tick_seconds_of(double lease_seconds) { return lease_seconds / 20; }
inline double slow_write_seconds_of(double lease_seconds) { return lease_seconds / 10; }

class LeaseClock {
 public:
  LeaseClock(double now, double tick_seconds) : looked_at_(now), tick_seconds_(tick_seconds) {}

  // How much of the time since the last look does not count: all of it after a stall, however often
  // the scheduler is stopped again. `answering`: workers are served, and the disk does not keep
  // them waiting.
  double stalled_seconds(double now, bool answering) {
    const double gap = std::max(0.0, now - looked_at_);
    looked_at_ = std::max(looked_at_, now);
    return answering && gap <= 2 * tick_seconds_ ? 0 : gap;
  }

 private:
  double looked_at_;
  double tick_seconds_;
};

}  // namespace attune::server

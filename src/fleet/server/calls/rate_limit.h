// How often somebody may do a thing: so many times at once, and so many a second from then on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "fleet/jobs/book/user_limits.h"

namespace attune::server {

// As how many times something counts that took so long of what may be taken a share of.
inline double times_of(double seconds, double share, const jobs::RateOfAUser& rate) {
  return seconds / share * rate.a_second;
}

class RateLimit {
 public:
  using Rate = jobs::RateOfAUser;

  explicit RateLimit(Rate rate) : rate_(rate), left_(rate.at_once) {}

  // Whether it may be done once more at this time. Times that come late count as the latest.
  bool admit(std::int64_t now_ns) {
    const std::lock_guard lock(mutex_);
    refill(now_ns);
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

  // It was done, and counts as so many times, although there may not be as many left. For how many
  // seconds it must not be done again.
  double charge(std::int64_t now_ns, double times) {
    const std::lock_guard lock(mutex_);
    refill(now_ns);
    left_ -= times;
    return left_ >= 0 ? 0 : -left_ / rate_.a_second;
  }

  // Whether it was not done for so long that nothing of it is remembered.
  bool is_full(std::int64_t now_ns) const {
    const std::lock_guard lock(mutex_);
    return left_at(now_ns) >= rate_.at_once;
  }

 private:
  double left_at(std::int64_t now_ns) const {
    if (now_ns <= at_ns_) return left_;
    const double passed = at_ns_ == 0 ? 0 : static_cast<double>(now_ns - at_ns_) * 1e-9;
    return std::min(rate_.at_once, left_ + passed * rate_.a_second);
  }
  void refill(std::int64_t now_ns) {
    left_ = left_at(now_ns);
    at_ns_ = std::max(at_ns_, now_ns);
  }

  const Rate rate_;
  mutable std::mutex mutex_;
  double left_;
  std::int64_t at_ns_ = 0;
};

}  // namespace attune::server

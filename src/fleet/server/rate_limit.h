// How often somebody may do a thing: so many times at once, and so many a second from then on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

namespace attune::server {

class RateLimit {
 public:
  struct Rate {
    double at_once = 0;
    double a_second = 0;
  };

  explicit RateLimit(Rate rate) : rate_(rate), left_(rate.at_once) {}

  // Whether it may be done once more at this time. Times that come late count as the latest.
  bool admit(std::int64_t now_ns) {
    const std::lock_guard lock(mutex_);
    if (now_ns > at_ns_) {
      const double passed = at_ns_ == 0 ? 0 : static_cast<double>(now_ns - at_ns_) * 1e-9;
      left_ = std::min(rate_.at_once, left_ + passed * rate_.a_second);
      at_ns_ = now_ns;
    }
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  const Rate rate_;
  std::mutex mutex_;
  double left_;
  std::int64_t at_ns_ = 0;
};

}  // namespace attune::server

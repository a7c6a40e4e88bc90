#include <algorithm>

#include "tuner/whole_model/contest/launch_ways.h"

namespace attune::whole_model {
namespace {

constexpr double kLeastGain = 0.002;   // of a step, beyond which it is not noise
constexpr double kLeastWhole = 0.005;  // of all of them together
constexpr int kLastLooks = 5;          // at both, in turns

class Searcher {
 public:
  Searcher(const WaySearch& search, double seconds, const Clock& clock)
      : search_(search), clock_(clock), start_ns_(clock.now_ns()), seconds_(seconds) {}

  Result<FoundWays> run() {
    const WayChoice plain(search_.counts.size(), 0);
    found_.choice = plain;
    ATTUNE_ASSIGN(found_.plain_us, search_.time_us(plain));
    found_.us = found_.plain_us;
    const int most = search_.counts.empty()
                         ? 1
                         : *std::max_element(search_.counts.begin(), search_.counts.end());
    for (int way = 1; way < most; ++way) {
      WayChoice same = plain;
      for (std::size_t i = 0; i < same.size(); ++i) {
        same[i] = way < search_.counts[i] ? way : found_.choice[i];
      }
      if (const auto looked = look_at(same); !looked.ok()) return looked.error();
    }
    while (!late()) {
      ATTUNE_ASSIGN(const bool gained, change_each());
      if (!gained) break;
    }
    ATTUNE_RETURN_IF_ERROR(look_again(plain));
    return found_;
  }

 private:
  bool late() const { return seconds_between(start_ns_, clock_.now_ns()) >= seconds_; }

  // Whether it is the best so far.
  Result<bool> look_at(const WayChoice& choice) {
    ATTUNE_ASSIGN(const double us, search_.time_us(choice));
    if (us >= (1 - kLeastGain) * found_.us) return false;
    found_.us = us;
    found_.choice = choice;
    return true;
  }

  Result<bool> change_each() {
    bool gained = false;
    for (std::size_t i = 0; i < search_.counts.size(); ++i) {
      for (int way = 0; way < search_.counts[i] && !late(); ++way) {
        if (way == found_.choice[i]) continue;
        WayChoice changed = found_.choice;
        changed[i] = way;
        ATTUNE_ASSIGN(const bool better, look_at(changed));
        gained = gained || better;
      }
    }
    return gained;
  }

  // The best of many looks is flattered.
  Status look_again(const WayChoice& plain) {
    if (found_.choice == plain) return {};
    std::vector<double> ours_us, plain_us;
    for (int i = 0; i < kLastLooks; ++i) {
      ATTUNE_ASSIGN(const double with, search_.time_us(found_.choice));
      ATTUNE_ASSIGN(const double without, search_.time_us(plain));
      ours_us.push_back(with);
      plain_us.push_back(without);
    }
    found_.us = median(ours_us);
    found_.plain_us = median(plain_us);
    if (found_.us < (1 - kLeastWhole) * found_.plain_us) return {};
    found_.choice = plain;
    found_.us = found_.plain_us;
    return {};
  }

  static double median(std::vector<double>& values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  const WaySearch& search_;
  const Clock& clock_;
  const std::int64_t start_ns_;
  const double seconds_;
  FoundWays found_;
};

}  // namespace

Result<FoundWays> search_ways(const WaySearch& search, double seconds, const Clock& clock) {
  return Searcher(search, seconds, clock).run();
}

}  // namespace attune::whole_model

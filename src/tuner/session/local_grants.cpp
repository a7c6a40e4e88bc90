#include <algorithm>

#include "tuner/session/grants.h"

namespace attune::session {
namespace {

constexpr double kSlower = 0.7, kFaster = 2;  // of one step
constexpr double kAhead = 1.1;                // the host is to be done a little earlier
constexpr double kMost = 12;
constexpr double kMemory = 0.7;

bool is_for_device(const Work& work) { return work.resource == Resource::Device; }

}  // namespace

void Pace::host_worked(double seconds) { host_seconds_ += seconds / machine_.host_stages; }

void Pace::device_worked(double seconds) {
  device_seconds_ += seconds;
  if (machine_.shared || device_seconds_ <= 0) return;
  stretch_ *= std::clamp(kAhead * host_seconds_ / device_seconds_, kSlower, kFaster);
  stretch_ = std::clamp(stretch_, 1.0, kMost);
  host_seconds_ *= kMemory;
  device_seconds_ *= kMemory;
}

bool LocalGrants::may_start(const Work& work) const {
  if (machine_.shared && is_for_device(work) != device_turn_) return false;
  return is_for_device(work) ? on_device_ == 0 : on_host_ < machine_.host_stages;
}

std::vector<Work> LocalGrants::choose(const std::vector<Work>& ready) {
  if (machine_.shared && on_host_ == 0 && on_device_ == 0) {
    // The other kind has its turn only when nothing is left of this one.
    const bool more = std::any_of(ready.begin(), ready.end(), [&](const Work& work) {
      return is_for_device(work) == device_turn_;
    });
    if (!more) device_turn_ = !device_turn_;
  }
  std::vector<Work> chosen;
  for (const Work& work : ready) {
    if (!may_start(work)) continue;
    ++(is_for_device(work) ? on_device_ : on_host_);
    chosen.push_back(work);
  }
  return chosen;
}

void LocalGrants::ended(const Work& work, double seconds, const Status&) {
  --(is_for_device(work) ? on_device_ : on_host_);
  if (work.owner == kErrand) return;
  if (is_for_device(work)) {
    pace_.device_worked(seconds);
  } else {
    pace_.host_worked(seconds);
  }
}

}  // namespace attune::session

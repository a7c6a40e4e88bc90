#include <algorithm>

#include "tuner/session/admission.h"

namespace attune::session {
namespace {

constexpr double kSlower = 0.7, kFaster = 2;  // of one step
constexpr double kAhead = 1.15;               // the host is to be done a little earlier
constexpr double kMost = 12;
// While nothing is known: on few cores building takes longer than measuring.
constexpr double kAtFirst = 3, kFewCores = 4;
// A round that nothing else waits behind is measured longer than the others: the next may take long
// to build.
constexpr double kAlone = 3, kCrowded = 0.8;
constexpr double kMemory = 0.7;

bool is_for_device(const Work& work) { return work.resource == Resource::Device; }

}  // namespace

Pace::Pace(const Machine& machine)
    : machine_(machine),
      stretch_(machine.shared
                   ? 1
                   : std::clamp(kAtFirst * kFewCores / machine.host_stages, 1.0, kAtFirst)) {}

double Pace::stretch(std::size_t waiting) const {
  // Where measuring takes longer than building nothing is gained.
  if (machine_.shared || stretch_ <= 1) return 1;
  const double factor = waiting == 0 ? kAlone : waiting == 1 ? 1 : kCrowded;
  return std::clamp(factor * stretch_, 1.0, kMost);
}

void Pace::host_worked(double seconds) { host_seconds_ += seconds / machine_.host_stages; }

void Pace::device_worked(double seconds) {
  device_seconds_ += seconds;
  if (machine_.shared || device_seconds_ <= 0) return;
  stretch_ *= std::clamp(kAhead * host_seconds_ / device_seconds_, kSlower, kFaster);
  stretch_ = std::clamp(stretch_, 1.0, kMost);
  host_seconds_ *= kMemory;
  device_seconds_ *= kMemory;
}

bool LocalAdmission::may_start(const Work& work) const {
  if (machine_.shared && is_for_device(work) != device_turn_) return false;
  return is_for_device(work) ? on_device_ == 0 : on_host_ < machine_.host_stages;
}

std::vector<Work> LocalAdmission::choose(const std::vector<Work>& ready) {
  if (machine_.shared && on_host_ == 0 && on_device_ == 0) {
    // The other kind has its turn only when nothing is left of this one.
    const bool more = std::any_of(ready.begin(), ready.end(), [&](const Work& work) {
      return is_for_device(work) == device_turn_;
    });
    if (!more) device_turn_ = !device_turn_;
  }
  std::vector<Work> chosen;
  waiting_ = 0;
  for (const Work& work : ready) {
    if (!may_start(work)) {
      waiting_ += is_for_device(work) ? 1 : 0;
      continue;
    }
    ++(is_for_device(work) ? on_device_ : on_host_);
    chosen.push_back(work);
  }
  return chosen;
}

void LocalAdmission::ended(const Work& work, double seconds, const Status&) {
  --(is_for_device(work) ? on_device_ : on_host_);
  if (work.owner == kNoSession) return;
  if (is_for_device(work)) {
    pace_.device_worked(seconds);
  } else {
    pace_.host_worked(seconds);
  }
}

}  // namespace attune::session

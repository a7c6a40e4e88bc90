#include "app/api/remote_grants.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "runtime/affinity.h"

namespace attune::api {
namespace {

using session::Resource;
using session::Work;

struct Kind {
  std::string_view name;
  Resource resource;
  double usual_seconds;  // before anything was observed
};
constexpr std::array kKinds = {
    Kind{"init", Resource::HostCores, 0.1},    Kind{"select", Resource::HostCores, 0.2},
    Kind{"build", Resource::HostCores, 1.0},   Kind{"profile", Resource::Device, 0.5},
    Kind{"update", Resource::HostCores, 0.2},  Kind{"confirm", Resource::Device, 0.3},
    Kind{"peak", Resource::Device, 0.2},       Kind{"load", Resource::HostCores, 1.0},
    Kind{"history", Resource::HostCores, 0.5}, Kind{"compile", Resource::HostCores, 5.0},
    Kind{"layouts", Resource::Device, 2.0},    Kind{"race", Resource::Device, 3.0}};

int kind_of(const Work& work) {
  const auto* found = std::find_if(kKinds.begin(), kKinds.end(),
                                   [&](const Kind& kind) { return kind.name == work.kind; });
  CHECK(found != kKinds.end() && found->resource == work.resource,
        "unknown kind of stage '" + std::string(work.kind) + "'");
  return static_cast<int>(found - kKinds.begin());
}

double left_of(std::string_view kind, const std::optional<StagesLeft>& left) {
  if (!left) return -1;
  if (kind == "init") return left->tasks;
  if (kind == "confirm") return left->unnamed;
  if (kind == "build") return left->rounds + left->unnamed;
  if (kind == "select" || kind == "profile" || kind == "update") return left->rounds;
  if (kind == "compile" || kind == "race") return left->compiles;
  return 0;
}

std::vector<worker::KindOfStage> kinds_with(const std::optional<StagesLeft>& left,
                                            const std::string& device) {
  std::vector<worker::KindOfStage> kinds;
  for (const Kind& kind : kKinds) {
    kinds.push_back({.name = std::string(kind.name),
                     .pool = kind.resource == Resource::Device ? device : "host",
                     .amount = 1,
                     .usual_seconds = kind.usual_seconds,
                     .left = left_of(kind.name, left)});
  }
  return kinds;
}

}  // namespace

class RemoteGrants::WorkingClock final : public Clock {
 public:
  std::int64_t now_ns() const override {
    const std::lock_guard lock(mutex_);
    return worked_ns_ + (running_ > 0 ? steady_.now_ns() - since_ns_ : 0);
  }
  void begin() {
    const std::lock_guard lock(mutex_);
    if (running_++ == 0) since_ns_ = steady_.now_ns();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) worked_ns_ += steady_.now_ns() - since_ns_;
  }

 private:
  const SteadyClock steady_;
  mutable std::mutex mutex_;
  std::int64_t worked_ns_ = 0, since_ns_ = 0;
  int running_ = 0;
};

RemoteGrants::RemoteGrants(worker::Link& link, worker::Holding holding, std::string device,
                           bool in_turn)
    : link_(link),
      holding_(std::move(holding)),
      device_(std::move(device)),
      in_turn_(in_turn),
      clock_(std::make_unique<WorkingClock>()) {
  link_.say_kinds(holding_, kinds_with(left_, device_));
}
RemoteGrants::~RemoteGrants() = default;

void RemoteGrants::flush() {
  for (const Done& done : std::exchange(done_, {})) {
    link_.finished(holding_, done.stage, done.seconds,
                   done.ok ? worker::StageEnd::Completed : worker::StageEnd::Broken, done.message);
  }
}

void RemoteGrants::offer(const Work& work) {
  const std::int64_t stage = next_stage_++;
  places_[work] = {.stage = stage};
  link_.offer(holding_, stage, kind_of(work));
}

std::vector<Work> RemoteGrants::choose(const std::vector<Work>& ready) {
  const std::lock_guard lock(mutex_);
  std::vector<Work> chosen;
  for (auto place = places_.begin(); place != places_.end();) {
    const auto& [work, state] = *place;
    const bool is_wanted = std::find(ready.begin(), ready.end(), work) != ready.end();
    if (state.granted && !state.running && !is_wanted) {
      done_.push_back({.stage = state.stage});
      place = places_.erase(place);
      continue;
    }
    if (state.granted && !state.running) chosen.push_back(work);
    ++place;
  }
  flush();
  wanted_.clear();
  for (const Work& work : ready) {
    const auto place = places_.find(work);
    if (place != places_.end() && place->second.granted) continue;
    wanted_.push_back(work);
    // What was offered and is not wanted now stays offered: leave for it is given back at once.
    if (place == places_.end() && (!in_turn_ || places_.empty())) offer(work);
  }
  for (const Work& work : chosen) {
    places_[work].running = true;
    clock_->begin();
  }
  return chosen;
}

Status RemoteGrants::enter(const Work& work) {
  std::vector<int> cores;
  {
    const std::lock_guard lock(mutex_);
    cores = places_.at(work).cores;
  }
  return cores.empty() ? Status() : runtime::pin_current_thread(cores);
}

void RemoteGrants::ended(const Work& work, double seconds, const Status& status) {
  const std::lock_guard lock(mutex_);
  const auto place = places_.find(work);
  CHECK(place != places_.end() && place->second.running, "what ended had begun");
  done_.push_back({.stage = place->second.stage,
                   .seconds = seconds,
                   .ok = status.ok(),
                   .message = status.ok() ? std::string() : status.error().message});
  places_.erase(place);
  clock_->end();
  if (!changed_) flush();
}

void RemoteGrants::watch(std::function<void()> changed) {
  const std::lock_guard lock(mutex_);
  changed_ = std::move(changed);
  if (!changed_) flush();
}

void RemoteGrants::may_start(std::int64_t stage, const std::vector<int>& cores) {
  const std::lock_guard lock(mutex_);
  const auto place = std::find_if(places_.begin(), places_.end(),
                                  [&](const auto& each) { return each.second.stage == stage; });
  if (place == places_.end() || place->second.granted) return;
  const Work& work = place->first;
  if (std::find(wanted_.begin(), wanted_.end(), work) == wanted_.end()) {
    link_.finished(holding_, stage, 0, worker::StageEnd::Completed, "no longer wanted");
    places_.erase(place);
    if (changed_) changed_();
    return;
  }
  place->second.granted = true;
  place->second.cores = cores;
  if (work.resource == Resource::HostCores && !cores.empty()) host_cores_ = cores;
  if (changed_) changed_();
}

void RemoteGrants::wake() {
  const std::lock_guard lock(mutex_);
  if (changed_) changed_();
}

void RemoteGrants::say_left(const StagesLeft& left) {
  const std::lock_guard lock(mutex_);
  if (left == left_) return;
  left_ = left;
  link_.say_kinds(holding_, kinds_with(left_, device_));
}

const Clock& RemoteGrants::clock() const { return *clock_; }

std::vector<int> RemoteGrants::host_cores() const {
  const std::lock_guard lock(mutex_);
  return host_cores_;
}

}  // namespace attune::api

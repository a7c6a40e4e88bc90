#include "app/job_worker/remote_admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/execution/affinity.h"
#include "tuner/session/stage_kinds.h"

namespace attune::job_worker {
namespace {

using session::Resource;
using session::Work;

// A turn ends after so much, since others may have something short to do meanwhile.
constexpr int kMostOfTurn = 8;  // works
constexpr double kLongTurnSeconds = 1;

// Whether one may run nested in a stage that was admitted for the other.
bool go_together(const Work& one, const Work& other) {
  if (one.owner == session::kNoSession || other.owner == session::kNoSession) return one == other;
  if (one.resource != other.resource) return false;
  return one.kind == other.kind || one.resource == Resource::Device;
}

// Its number among the kinds that the scheduler was told; none: it would not know what to give out.
std::optional<int> kind_of(const Work& work) {
  const session::StageKindInfo* found = session::find_stage_kind(work.kind);
  if (found == nullptr || found->resource != work.resource) return std::nullopt;
  return static_cast<int>(found - session::stage_kinds().data());
}

Error unknown_kind(const Work& work) {
  return {ErrorCode::Unsupported,
          fmt::format("the scheduler is not told of stages of the kind '{}' on the {}", work.kind,
                      work.resource == Resource::Device ? "device" : "host"),
          "name it in src/tuner/session/stage_kinds.cpp"};
}

double left_of(session::Forecast forecast, const std::optional<StagesLeft>& left) {
  if (!left) return -1;
  switch (forecast) {
    case session::Forecast::Beginnings:
      return left->beginnings;
    case session::Forecast::Batches:
      return left->batches;
    case session::Forecast::Winners:  // most are named while others are profiled
      return left->unnamed > 0 ? 1 : 0;
    case session::Forecast::Models:
      return left->compiles;
    case session::Forecast::None:
      break;
  }
  return 0;
}

std::vector<worker::KindOfStage> kinds_with(const std::optional<StagesLeft>& left,
                                            const std::string& device) {
  std::vector<worker::KindOfStage> kinds;
  for (const session::StageKindInfo& kind : session::stage_kinds()) {
    kinds.push_back({.name = std::string(kind.name),
                     .pool = kind.resource == Resource::Device ? device : "host",
                     .amount = 1,
                     .usual_seconds = kind.usual_seconds,
                     .left = left_of(kind.forecast, left)});
  }
  return kinds;
}

}  // namespace

class RemoteAdmission::WorkingClock final : public Clock {
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

RemoteAdmission::RemoteAdmission(worker::StageLine& line, worker::Holding holding,
                                 std::string device, bool in_turn, const server::CoreGroups* groups)
    : line_(line),
      holding_(std::move(holding)),
      device_(std::move(device)),
      in_turn_(in_turn),
      groups_(groups),
      clock_(std::make_unique<WorkingClock>()) {
  line_.say_kinds(holding_, kinds_with(left_, device_));
}
RemoteAdmission::~RemoteAdmission() {
  for (const auto& [stage, turn] : turns_) leave_cores(turn);
}

RemoteAdmission::Turns::iterator RemoteAdmission::turn_for(const Work& work, bool admitted) {
  return std::find_if(turns_.begin(), turns_.end(), [&](const auto& each) {
    const Turn& turn = each.second;
    return turn.admitted == admitted && !turn.running && turn.begun < kMostOfTurn &&
           turn.seconds < kLongTurnSeconds && go_together(turn.first, work);
  });
}

bool RemoteAdmission::start(const Work& work) {
  const auto turn = turn_for(work, true);
  if (turn == turns_.end()) return false;
  turn->second.running = true;
  ++turn->second.begun;
  running_[work] = turn->first;
  clock_->begin();
  return true;
}

void RemoteAdmission::ask_for(const Work& work) {
  if (turn_for(work, false) != turns_.end() || (in_turn_ && !turns_.empty())) return;
  const std::int64_t stage = next_stage_++;
  turns_[stage] = {.first = work};
  line_.offer(holding_, stage, *kind_of(work));
}

void RemoteAdmission::leave_cores(const Turn& turn) const {
  if (groups_ != nullptr && turn.first.resource == Resource::Device && !turn.cores.empty()) {
    groups_->leave(turn.cores);
  }
}

void RemoteAdmission::close(Turns::iterator turn) {
  leave_cores(turn->second);
  done_.insert(turns_.extract(turn));
}

void RemoteAdmission::close_idle() {
  for (auto turn = turns_.begin(); turn != turns_.end();) {
    const auto next = std::next(turn);
    if (turn->second.admitted && !turn->second.running) close(turn);
    turn = next;
  }
}

void RemoteAdmission::flush() {
  for (const auto& [stage, turn] : std::exchange(done_, {})) {
    line_.finished(holding_, stage, turn.seconds,
                   !turn.failure.empty() ? worker::StageEnd::Broken
                   : turn.disturbed      ? worker::StageEnd::Disturbed
                                         : worker::StageEnd::Completed,
                   turn.failure);
  }
}

std::vector<Work> RemoteAdmission::choose(const std::vector<Work>& ready) {
  const std::lock_guard lock(mutex_);
  std::vector<Work> ordered = ready;
  if (in_turn_) {
    std::stable_partition(ordered.begin(), ordered.end(),
                          [](const Work& work) { return work.resource == Resource::HostCores; });
  }
  std::vector<Work> chosen;
  wanted_.clear();
  for (const Work& work : ordered) {
    const bool unknown = !kind_of(work);
    if (unknown) unknown_.insert(work);  // starts at once, and fails
    (unknown || start(work) ? chosen : wanted_).push_back(work);
  }
  // What nothing goes on with is over; that is said before anything else is asked for.
  close_idle();
  flush();
  for (const Work& work : wanted_) ask_for(work);
  return chosen;
}

Status RemoteAdmission::enter(const Work& work) {
  std::vector<int> cores;
  {
    const std::lock_guard lock(mutex_);
    if (unknown_.count(work) != 0) return unknown_kind(work);
    cores = turns_.at(running_.at(work)).cores;
  }
  return cores.empty() ? Status() : stand_on(cores);
}

// The group first: outside of it cores cannot be asked for.
Status RemoteAdmission::stand_on(const std::vector<int>& cores) const {
  if (groups_ != nullptr) groups_->enter(cores);
  return runtime::pin_current_thread(cores);
}

void RemoteAdmission::ended(const Work& work, double seconds, const Status& status) {
  const std::lock_guard lock(mutex_);
  if (unknown_.erase(work) != 0) return;
  const auto place = running_.find(work);
  CHECK(place != running_.end(), "what ended had begun");
  const auto turn = turns_.find(place->second);
  running_.erase(place);
  turn->second.running = false;
  turn->second.seconds += seconds;
  if (!status.ok() && turn->second.failure.empty()) {
    turn->second.failure = status.error().message;
  }
  clock_->end();
  // What was disturbed waits for a better moment, in which others may measure.
  if (!status.ok() || work.owner == session::kNoSession || turn->second.disturbed) close(turn);
  if (!changed_) {
    close_idle();
    flush();
  }
}

void RemoteAdmission::disturbed(const Work& work) {
  const std::lock_guard lock(mutex_);
  turns_.at(running_.at(work)).disturbed = true;
}

void RemoteAdmission::watch(std::function<void()> changed) {
  const std::lock_guard lock(mutex_);
  changed_ = std::move(changed);
  if (changed_) return;
  close_idle();
  flush();
}

void RemoteAdmission::may_start(std::int64_t stage, const std::vector<int>& cores) {
  const std::lock_guard lock(mutex_);
  const auto turn = turns_.find(stage);
  if (turn == turns_.end() || turn->second.admitted) return;
  const Work first = turn->second.first;
  const auto fits = [&](const Work& work) { return go_together(first, work); };
  if (std::none_of(wanted_.begin(), wanted_.end(), fits)) {
    line_.finished(holding_, stage, 0, worker::StageEnd::Withdrawn, "no longer wanted");
    turns_.erase(turn);
  } else {
    turn->second.admitted = true;
    turn->second.cores = cores;
    if (first.resource == Resource::HostCores && !cores.empty()) host_cores_ = cores;
  }
  if (changed_) changed_();
}

void RemoteAdmission::wake() {
  const std::lock_guard lock(mutex_);
  if (changed_) changed_();
}

void RemoteAdmission::say_left(const StagesLeft& left) {
  const std::lock_guard lock(mutex_);
  if (left == left_) return;
  left_ = left;
  line_.say_kinds(holding_, kinds_with(left_, device_));
}

const Clock& RemoteAdmission::clock() const { return *clock_; }

std::vector<int> RemoteAdmission::host_cores() const {
  const std::lock_guard lock(mutex_);
  return host_cores_;
}

}  // namespace attune::job_worker

#include "fleet/server/calls/call_state.h"

#include <fmt/format.h>

#include <utility>

#include "fleet/jobs/book/user_limits.h"

namespace attune::server {

UnderWay::UnderWay(CallState& state, jobs::Caller caller, Kind kind)
    : state_(state), caller_(std::move(caller)), kind_(kind) {
  const std::lock_guard lock(state_.mutex);
  in_time_ = !state_.closing;
  answer_ = in_time_ && kind == Kind::Answer;
  count(1);
  with_it_ = state_.users[caller_.uid];
}

UnderWay::~UnderWay() {
  const std::lock_guard lock(state_.mutex);
  count(-1);
  if (state_.users[caller_.uid].calls == 0) state_.users.erase(caller_.uid);
  state_.gone.notify_all();
}

void UnderWay::count(int change) {
  state_.calls += change;
  if (answer_) state_.answers += change;
  CallsOfAUser& user = state_.users[caller_.uid];
  user.calls += change;
  if (kind_ == Kind::Stream || kind_ == Kind::Watcher) user.streams += change;
  if (kind_ == Kind::Watcher) user.watchers += change;
}

Status UnderWay::check() const {
  if (caller_.uid == state_.uid) return {};
  const auto too_many = [&](int most, const char* what) {
    return Error{
        ErrorCode::Exhausted,
        fmt::format("{} has {} {} under way already, may have no more", caller_.user, most, what),
        "wait for one of them, or end it"};
  };
  if (with_it_.calls > jobs::kCallsOfAUser) return too_many(jobs::kCallsOfAUser, "calls");
  if (kind_ == Kind::Answer) return {};
  if (with_it_.streams > jobs::kStreamsOfAUser) return too_many(jobs::kStreamsOfAUser, "streams");
  if (kind_ != Kind::Watcher || with_it_.watchers <= jobs::kWatchersOfAUser) return {};
  return too_many(jobs::kWatchersOfAUser, "streams that watch");
}

}  // namespace attune::server

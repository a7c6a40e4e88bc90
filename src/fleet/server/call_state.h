// What all calls of one service have in common, whoever makes them.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <unordered_map>

#include "fleet/server/event_loop.h"
#include "fleet/server/service.h"

namespace attune::server {

class WorkStream;
class WatchStream;

// Who makes a call. Where a connection is known to be of one user it is always that one; where each
// call proves it (by a certificate), the call is looked at.
using WhoCalls = std::function<jobs::Caller(const grpc::CallbackServerContext&)>;

struct CallState {
  ServiceOptions options;
  std::uint32_t uid = 0;  // the scheduler's user
  EventLoop* loop = nullptr;
  std::atomic<std::uint64_t> next_id = 1;
  std::mutex mutex;  // guards what follows
  std::condition_variable gone;
  std::unordered_map<jobs::WorkerId, WorkStream*> workers;
  std::unordered_map<std::uint64_t, WatchStream*> watchers;
  int calls = 0, answers = 0;  // under way, and those of them that came before the end began
  bool closing = false;
};

// Counts a call while it is under way. Those who asked for an answer before the server began to
// close get it; streams end when it does, however slow the other end is.
class UnderWay {
 public:
  enum class Kind { Answer, Stream };
  UnderWay(CallState& state, Kind kind) : state_(state) {
    const std::lock_guard lock(state_.mutex);
    in_time_ = !state_.closing;
    answer_ = in_time_ && kind == Kind::Answer;
    state_.calls += 1;
    state_.answers += answer_ ? 1 : 0;
  }
  ~UnderWay() {
    const std::lock_guard lock(state_.mutex);
    state_.calls -= 1;
    state_.answers -= answer_ ? 1 : 0;
    state_.gone.notify_all();
  }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  bool in_time() const { return in_time_; }

 private:
  CallState& state_;
  bool in_time_ = false, answer_ = false;
};

inline grpc::Status ending() {
  return {grpc::StatusCode::UNAVAILABLE, "the scheduler is about to end"};
}

}  // namespace attune::server

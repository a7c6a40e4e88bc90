// Timing the kernels of whole plans. Where the device can record, all runs of all sessions are one
// recording on the stream of the first, so that nothing of the host is between two of them.
#include <algorithm>
#include <set>
#include <utility>

#include "runtime/execution/session_state.h"
#include "runtime/execution/stretches.h"

namespace attune::runtime {

Status Session::State::launch_kernels(std::unique_ptr<Stream>& on) {
  const bool lent = &on != &stream;
  if (lent) std::swap(on, stream);
  profile = nullptr;
  kernels_only = true;
  const Status done = run(std::span(plan().body), 0);
  kernels_only = false;
  if (lent) std::swap(on, stream);
  return done;
}

Status Session::State::run_kernels() {
  profile = nullptr;
  kernels_only = true;
  const Status done = run(plan().body, 0);
  kernels_only = false;
  return done;
}

// Of a plan that is one stretch; 0 of others.
std::int64_t Session::State::recordable_calls() {
  if (plan().body.empty()) return 0;
  profile = nullptr;
  const Stretch* const stretch = stretch_at(plan().body.front());
  return stretch != nullptr && stretch->end == plan().body.size() ? stretch->calls : 0;
}

bool Session::is_one_recording() {
  if (!state_->stream->records()) return false;
  const std::int64_t calls = state_->recordable_calls();
  return calls > 0 && calls <= kMostRecordedCalls;
}

Result<double> Session::time_again(std::int64_t runs) {
  Session* const alone = this;
  return time_together({&alone, 1}, runs);
}

Result<double> Session::time_together(std::span<Session* const> sessions, std::int64_t runs) {
  CHECK(!sessions.empty() && runs > 0, "something is to be timed");
  State& first = *sessions.front()->state_;
  std::vector<const void*> all;
  std::int64_t calls = 0;
  bool recordable = true;
  for (Session* const session : sessions) {
    ATTUNE_RETURN_IF_ERROR(session->state_->model->artifact().check_unchanged());
    all.push_back(session->state_.get());
    const std::int64_t own = session->state_->recordable_calls();
    recordable = recordable && own > 0;
    calls += own;
  }
  recordable = recordable && first.stream->records() && calls <= kMostRecordedCalls / runs;
  const auto run_all = [&](std::int64_t times) -> Status {
    for (std::int64_t i = 0; i < times; ++i) {
      for (Session* const session : sessions) {
        State& state = *session->state_;
        ATTUNE_RETURN_IF_ERROR(recordable ? state.launch_kernels(first.stream)
                                          : state.run_kernels());
      }
    }
    return {};
  };
  if (recordable && (first.row.sessions != all || first.row.runs != runs)) {
    // Once as it is: what the stream needs besides cannot be asked for while it records.
    ATTUNE_RETURN_IF_ERROR(run_all(1));
    auto recorded = record(*first.stream, [&] { return run_all(runs); });
    first.row = {std::move(all), runs, nullptr};
    if (recorded.ok()) first.row.recording = std::move(recorded).value();
  }
  // Each stream has a clock of its own.
  const std::set<Session*> different(sessions.begin(), sessions.end());
  const auto now_ns = [&] {
    if (recordable) return sessions.front()->now_ns();
    std::int64_t sum = 0;
    for (Session* const session : different) sum += session->now_ns();
    return sum;
  };
  const bool replayed = recordable && first.row.recording != nullptr;
  const std::int64_t start = now_ns();
  ATTUNE_RETURN_IF_ERROR(replayed ? first.stream->replay(*first.row.recording) : run_all(runs));
  const auto spent = static_cast<double>(now_ns() - start);
  ATTUNE_RETURN_IF_ERROR(first.stream->wait());
  return spent * 1e-3 / static_cast<double>(runs);
}

}  // namespace attune::runtime

// Connections that last: a worker's, and that of somebody who watches. gRPC calls them back.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <deque>
#include <mutex>

#include "fleet/server/call_state.h"
#include "fleet/wire/jobs.grpc.pb.h"

namespace attune::server {

// A connection that the server writes to: one message at a time, in order. Whoever speaks faster
// than the disk takes what comes of it waits, and whoever does not read what they are told is cut
// off.
class WorkStream final : public grpc::ServerBidiReactor<v1::FromWorker, v1::ToWorker> {
 public:
  static constexpr int kMostUnheard = 256;
  static constexpr std::size_t kMostUnread = 10'000;

  WorkStream(CallState& state, jobs::WorkerId id, jobs::Caller caller,
             grpc::CallbackServerContext& context)
      : state_(state), id_(id), caller_(std::move(caller)), context_(context) {}

  void begin() { StartRead(&incoming_); }
  void send(const v1::ToWorker& message);
  void close();  // after what was sent
  void heard();  // one of the messages that came, and what it changed is on the disk

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone() override;
  void OnCancel() override { close(); }

 private:
  void finish_if_idle(std::unique_lock<std::mutex>& lock);
  void say_that_it_left();

  CallState& state_;
  const jobs::WorkerId id_;
  const jobs::Caller caller_;
  grpc::CallbackServerContext& context_;
  bool joined_ = false, left_ = false;
  v1::FromWorker incoming_;
  std::mutex mutex_;
  std::deque<v1::ToWorker> outgoing_;  // the first is being written
  bool closing_ = false, finished_ = false;
  int unheard_ = 0;
  bool waits_ = false;  // to be heard, before it reads on
};

class WatchStream final : public grpc::ServerWriteReactor<v1::Snapshot> {
 public:
  WatchStream(CallState& state, std::uint64_t id, jobs::Caller caller)
      : state_(state), id_(id), caller_(std::move(caller)) {}

  void begin(const v1::ListRequest& request);
  void OnWriteDone(bool ok) override;
  void OnDone() override;
  void OnCancel() override;

 private:
  void deliver(Result<std::vector<v1::Snapshot>> parts);
  void finish(const grpc::Status& status);

  CallState& state_;
  const std::uint64_t id_;
  const jobs::Caller caller_;
  std::string job_;  // the one that is watched; empty: all
  std::mutex mutex_;
  std::deque<v1::Snapshot> outgoing_;  // the first is being written
  bool writing_ = false, cancelled_ = false, finished_ = false;
};

}  // namespace attune::server

// Connections that last: a worker's, and that of somebody who watches. gRPC calls them back.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/support/server_callback.h>

#include <deque>
#include <memory>
#include <mutex>

#include "fleet/server/calls/call_state.h"
#include "fleet/server/calls/rate_limit.h"
#include "fleet/wire/jobs.grpc.pb.h"

namespace attune::server {

// A connection that the server writes to: one message at a time, in order. Whoever speaks faster
// than the disk takes what comes of it, or more often than they may, waits, and whoever does not
// read what they are told is cut off. What waits to be heard or read is bounded in messages and in
// bytes.
class WorkStream final : public grpc::ServerBidiReactor<v1::FromWorker, v1::ToWorker> {
 public:
  static constexpr int kMostUnheard = 256;
  static constexpr std::size_t kMostUnheardBytes = std::size_t{1} << 20;  // and one message
  static constexpr std::size_t kMostUnread = 10'000;
  static constexpr std::size_t kMostUnreadBytes = std::size_t{16} << 20;

  // `rate`: how often its user is heard; null: as often as they speak.
  WorkStream(CallState& state, jobs::WorkerId id, std::unique_ptr<UnderWay> under_way,
             grpc::CallbackServerContext& context, RateLimit* rate)
      : state_(state), id_(id), under_way_(std::move(under_way)), context_(context), rate_(rate) {}

  void begin() { StartRead(&incoming_); }
  void send(const v1::ToWorker& message);
  void close();                   // after what was sent
  void heard(std::size_t bytes);  // one of the messages that came, and its changes are on the disk
  void go_on();                   // it has waited for long enough

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone() override;
  void OnCancel() override { close(); }

 private:
  struct Outgoing {
    v1::ToWorker message;
    std::size_t bytes = 0;
  };
  void finish_if_idle(std::unique_lock<std::mutex>& lock);
  void say_that_it_left();
  void pause(double seconds);
  void read_on();

  CallState& state_;
  const jobs::WorkerId id_;
  const std::unique_ptr<UnderWay> under_way_;
  grpc::CallbackServerContext& context_;
  RateLimit* const rate_;
  bool joined_ = false, left_ = false;
  v1::FromWorker incoming_;
  std::mutex mutex_;
  std::deque<Outgoing> outgoing_;  // the first is being written
  std::size_t unread_bytes_ = 0;
  bool closing_ = false, finished_ = false;
  int unheard_ = 0;
  std::size_t unheard_bytes_ = 0;
  // Before it reads on: to be heard, and until its user may speak again.
  bool waits_ = false, pauses_ = false;
  std::unique_ptr<grpc::Alarm> alarm_;  // that ends a pause
};

class WatchStream final : public grpc::ServerWriteReactor<v1::Snapshot> {
 public:
  WatchStream(CallState& state, std::uint64_t id, std::unique_ptr<UnderWay> under_way)
      : state_(state), id_(id), under_way_(std::move(under_way)) {}

  void begin(const v1::ListRequest& request);
  void OnWriteDone(bool ok) override;
  void OnDone() override;
  void OnCancel() override;

 private:
  void deliver(Result<v1::Snapshot> part);
  void finish(const grpc::Status& status);

  CallState& state_;
  const std::uint64_t id_;
  const std::unique_ptr<UnderWay> under_way_;
  std::mutex mutex_;
  v1::Snapshot outgoing_;
  bool writing_ = false, cancelled_ = false, finished_ = false;
};

}  // namespace attune::server

// One gRPC stream of a worker to a scheduler, for as long as it holds.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "fleet/wire/jobs.grpc.pb.h"

namespace attune::worker {

// Who hears what comes over a connection, on threads of gRPC, one call after the other.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void hear(const v1::ToWorker& message) = 0;
  // The last call of a connection that was welcomed.
  virtual void broke(const Error& why) = 0;
};

// Both directions, on gRPC's threads: one write at a time, and always a read.
class Connection final : public grpc::ClientBidiReactor<v1::FromWorker, v1::ToWorker> {
 public:
  Connection(const std::shared_ptr<grpc::Channel>& channel, Listener& listener);
  // gRPC uses the object until the call has ended.
  ~Connection() override;

  void send(v1::FromWorker message);
  // Empty when the time is up, or when there is nobody.
  std::optional<Result<v1::Welcome>> wait_for_welcome(std::chrono::steady_clock::time_point until);

  void OnWriteDone(bool ok) override;
  void OnReadDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  bool take_welcome(const v1::ToWorker& message);

  Listener& listener_;
  grpc::ClientContext context_;
  std::unique_ptr<v1::Scheduler::Stub> stub_;
  v1::ToWorker incoming_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<v1::FromWorker> outgoing_;  // the first is being written
  std::optional<v1::Welcome> welcome_;
  std::optional<Error> turned_away_;
  grpc::Status status_;
  bool closed_ = false;  // for writing
  bool over_ = false;
};

}  // namespace attune::worker

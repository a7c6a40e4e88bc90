// A worker's connection to a scheduler as tests and benches drive it: blocking, one thread reads,
// any thread sends. It does nothing by itself.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fleet/wire/channel.h"
#include "fleet/wire/devices.h"
#include "fleet/wire/jobs.grpc.pb.h"
#include "fleet/wire/state_directory.h"

namespace attune::server {

// One that fails all calls where nobody serves.
inline std::shared_ptr<grpc::Channel> channel_to(const std::string& state) {
  const Result<wire::Line> line = wire::open_line(state);
  if (line.ok()) return line->channel;
  return grpc::CreateChannel("unix:" + wire::socket_path(state),
                             grpc::InsecureChannelCredentials());
}

class WorkerConnection {
 public:
  // To the scheduler of a state folder. Says hello, as a worker on this machine that measures on
  // its cores, with the token that it was handed or with what it still has.
  WorkerConnection(const std::string& state, const std::string& version, const std::string& token,
                   const std::vector<v1::Job>& holds = {})
      : stub_(v1::Scheduler::NewStub(channel_to(state))), stream_(stub_->Work(&context_)) {
    v1::FromWorker message;
    v1::Hello& hello = *message.mutable_hello();
    hello.set_version(version);
    hello.set_name("fake");
    hello.set_token(token);
    hello.set_secret("a worker of a test");
    hello.add_devices(wire::kMeasuringCores);
    hello.set_takes_jobs(true);
    for (const v1::Job& job : holds) {
      v1::Holding& holding = *hello.add_holds();
      holding.set_job(job.id());
      holding.set_epoch(job.epoch());
    }
    send(message);
  }

  // False when the connection is gone.
  bool send(const v1::FromWorker& message) {
    const std::lock_guard lock(mutex_);
    return stream_->Write(message);
  }
  bool read(v1::ToWorker& message) { return stream_->Read(&message); }
  void cut() { context_.TryCancel(); }

  // One "build" on the host and one "profile" on the device, `left` times.
  bool send_kinds(const v1::Job& job, int left) {
    v1::FromWorker message;
    v1::Kinds& kinds = *message.mutable_kinds();
    kinds.set_job(job.id());
    kinds.set_epoch(job.epoch());
    for (const bool device : {false, true}) {
      v1::StageKind& kind = *kinds.add_kinds();
      kind.set_name(device ? "profile" : "build");
      kind.set_pool(device ? wire::kMeasuringCores : "host");
      kind.set_amount(1);
      kind.set_usual_seconds(0.01);
      kind.set_left(left);
    }
    return send(message);
  }
  bool offer(const v1::Job& job, std::int64_t stage, int kind) {
    v1::FromWorker message;
    v1::Offer& offer = *message.mutable_offer();
    offer.set_job(job.id());
    offer.set_epoch(job.epoch());
    offer.set_stage(stage);
    offer.set_kind(kind);
    return send(message);
  }
  bool finish(const v1::Job& job, std::int64_t stage, double seconds) {
    v1::FromWorker message;
    v1::Finished& finished = *message.mutable_finished();
    finished.set_job(job.id());
    finished.set_epoch(job.epoch());
    finished.set_stage(stage);
    finished.set_seconds(seconds);
    return send(message);
  }
  bool end(const v1::Job& job, v1::JobState state) {
    v1::FromWorker message;
    v1::Ended& ended = *message.mutable_ended();
    ended.set_job(job.id());
    ended.set_epoch(job.epoch());
    ended.set_state(state);
    return send(message);
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::Scheduler::Stub> stub_;
  std::mutex mutex_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::FromWorker, v1::ToWorker>> stream_;
};

}  // namespace attune::server

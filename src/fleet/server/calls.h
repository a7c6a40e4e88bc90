// The calls of the service, made by whoever a connection is of.
#pragma once

#include "fleet/server/calls/call_state.h"
#include "fleet/server/calls/rate_limit.h"
#include "fleet/wire/jobs.grpc.pb.h"

namespace attune::server {

// How often one user is heard.
struct UserRates {
  RateLimit calls{jobs::kCallRate};
  RateLimit messages{jobs::kMessageRate};  // of tuners
};

class SchedulerCalls final : public v1::Scheduler::CallbackService {
 public:
  // `rates`: how often they are heard; null: as often as they call.
  SchedulerCalls(CallState& state, WhoCalls who, UserRates* rates)
      : state_(state), who_(std::move(who)), rates_(rates) {}

  grpc::ServerUnaryReactor* Submit(grpc::CallbackServerContext* context,
                                   const v1::SubmitRequest* request,
                                   v1::SubmitReply* reply) override;
  grpc::ServerUnaryReactor* Control(grpc::CallbackServerContext* context,
                                    const v1::ControlRequest* request,
                                    v1::ControlReply* reply) override;
  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context,
                                 const v1::ListRequest* request, v1::Snapshot* reply) override;
  grpc::ServerUnaryReactor* Prune(grpc::CallbackServerContext* context,
                                  const v1::PruneRequest* request, v1::PruneReply* reply) override;
  grpc::ServerUnaryReactor* Token(grpc::CallbackServerContext* context,
                                  const v1::TokenRequest* request, v1::TokenReply* reply) override;
  grpc::ServerWriteReactor<v1::Snapshot>* Watch(grpc::CallbackServerContext* context,
                                                const v1::ListRequest* request) override;
  grpc::ServerBidiReactor<v1::FromWorker, v1::ToWorker>* Work(
      grpc::CallbackServerContext* context) override;
  grpc::ServerReadReactor<v1::FilePart>* Upload(grpc::CallbackServerContext* context,
                                                v1::UploadReply* reply) override;
  grpc::ServerWriteReactor<v1::FilePart>* Fetch(grpc::CallbackServerContext* context,
                                                const v1::FetchRequest* request) override;

 private:
  // An error where its user may not make this call, or does it too often.
  Status admit(std::string_view call, const UnderWay& under_way);
  // A call that took so much of the loop's time counts as several, and so does a long answer.
  void charge_for_time(double seconds);
  void charge_for_bytes(std::size_t bytes);
  // A call with its answer, which comes when all that the call and those before it changed is on
  // the disk. `prepare` is done first and `complete` last, away from the loop and the journal; what
  // the call costs is known then.
  struct Asked {
    std::string_view call;
    const grpc::CallbackServerContext& context;
    const google::protobuf::MessageLite& request;
    const google::protobuf::MessageLite& reply;
  };
  using Act = std::function<Status(const jobs::Caller&, Turn&)>;
  using Prepare = std::function<void(const jobs::Caller&)>;
  grpc::ServerUnaryReactor* answer(const Asked& asked, Act act, std::function<void()> complete = {},
                                   Prepare prepare = {});

  CallState& state_;
  const WhoCalls who_;
  UserRates* const rates_;
  Unanswered unanswered_;
};

}  // namespace attune::server

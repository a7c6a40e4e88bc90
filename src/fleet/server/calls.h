// The calls of the service, made by whoever a connection is of.
#pragma once

#include "fleet/server/call_state.h"
#include "fleet/server/rate_limit.h"
#include "fleet/wire/jobs.grpc.pb.h"

namespace attune::server {

class SchedulerCalls final : public v1::Scheduler::CallbackService {
 public:
  // `rate`: how often they are heard; null: as often as they call.
  SchedulerCalls(CallState& state, WhoCalls who, RateLimit* rate)
      : state_(state), who_(std::move(who)), rate_(rate) {}

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
  // Who makes this call; an error where they may not, or do it too often.
  Result<jobs::Caller> admit(std::string_view call, const grpc::CallbackServerContext& context);
  // A call with its answer, which comes when all that the call and those before it changed is on
  // the disk; `complete` is done just before, away from the loop.
  struct Asked {
    std::string_view call;
    const grpc::CallbackServerContext& context;
    const google::protobuf::MessageLite& request;
    const google::protobuf::MessageLite& reply;
  };
  using Act = std::function<Status(const jobs::Caller&, Turn&)>;
  grpc::ServerUnaryReactor* answer(const Asked& asked, Act act,
                                   std::function<void()> complete = {});

  CallState& state_;
  const WhoCalls who_;
  RateLimit* const rate_;
  Unanswered unanswered_;
};

}  // namespace attune::server

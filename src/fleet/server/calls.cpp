#include "fleet/server/calls.h"

#include <fmt/format.h>

#include <utility>

#include "base/clock.h"
#include "fleet/server/file_streams.h"
#include "fleet/server/streams.h"
#include "fleet/server/tokens.h"
#include "fleet/wire/denied.h"
#include "fleet/wire/status.h"

namespace attune::server {
namespace {

constexpr const char* kDiskIsSlow = "the scheduler's disk is slow; try again when it has caught up";

// A call with one answer.
class Answer final : public grpc::ServerUnaryReactor {
 public:
  Answer(CallState& state, Unanswered& unanswered)
      : under_way_(state, UnderWay::Kind::Answer), place_(unanswered) {}
  bool in_time() const { return under_way_.in_time(); }
  Unanswered::Place& place() { return place_; }
  void finish(const Status& status) {
    Finish(status.ok() ? grpc::Status::OK : wire::to_status(status.error()));
  }
  void OnDone() override { delete this; }

 private:
  UnderWay under_way_;
  Unanswered::Place place_;
};

// The end of a stream that is not begun.
template <typename Reactor>
class Refused final : public Reactor {
 public:
  Refused(CallState& state, const Error& why) : under_way_(state, UnderWay::Kind::Stream) {
    this->Finish(wire::to_status(why));
  }
  void OnDone() override { delete this; }

 private:
  UnderWay under_way_;
};

// The job gets what was sent for it before anybody can be given the job.
Result<v1::SubmitReply> submit(const std::string& state, const jobs::Caller& caller,
                               const v1::SubmitRequest& request, Turn& turn) {
  const std::string& files = request.spec().files();
  const bool sent = jobs::is_upload_of(caller.uid, files) && has_upload(state, files);
  ATTUNE_ASSIGN(v1::SubmitReply reply, turn.book.submit(caller, request, turn.now));
  if (files.empty() || reply.already_known()) return reply;
  Result<std::vector<std::string>> claimed =
      Error{ErrorCode::NotFound, "the files of the job are not there any more", {}};
  if (sent) claimed = claim_upload(state, files, reply.job().id());
  if (claimed.ok()) {
    turn.folders.insert(turn.folders.end(), claimed->begin(), claimed->end());
    return reply;
  }
  v1::ControlRequest cancel;
  cancel.set_job(reply.job().id());
  cancel.set_wish(v1::CANCEL);
  ATTUNE_ASSIGN(const v1::Job cancelled, turn.book.control(caller, cancel, turn.now));
  return claimed.error();
}

}  // namespace

Status Unanswered::Place::check(const std::string& user) const {
  const int before = all_.calls_ - 1;
  if (before < kMostCalls) return check_memory(user);
  return Error{ErrorCode::Exhausted,
               fmt::format("{} calls of {} wait for an answer already", before, user), kDiskIsSlow};
}

Status Unanswered::Place::check_memory(const std::string& user) const {
  const std::size_t others = all_.bytes_ - bytes_;
  if (others < kMostBytes) return {};
  return Error{
      ErrorCode::Exhausted,
      fmt::format("calls of {} with {} MiB wait for an answer already", user, others >> 20),
      kDiskIsSlow};
}

Result<jobs::Caller> SchedulerCalls::admit(std::string_view call,
                                           const grpc::CallbackServerContext& context) {
  const jobs::Caller caller = who_(context);
  ATTUNE_RETURN_IF_ERROR(jobs::check_may_call(caller, state_.uid, call));
  if (rate_ == nullptr || rate_->admit(SteadyClock().now_ns())) return caller;
  return Error{ErrorCode::Exhausted, fmt::format("{} asks this scheduler too often", caller.user),
               "wait a moment; it serves others too"};
}

// The memory is looked at again when it is the call's turn: answers may be large.
grpc::ServerUnaryReactor* SchedulerCalls::answer(const Asked& asked, Act act,
                                                 std::function<void()> complete) {
  auto* reactor = new Answer(state_, unanswered_);
  const Result<jobs::Caller> caller = admit(asked.call, asked.context);
  Status good = caller.ok() ? reactor->place().check(caller->user) : Status(caller.error());
  if (!good.ok()) {
    reactor->finish(good);
    return reactor;
  }
  reactor->place().hold(asked.request.ByteSizeLong());
  Event event = [reactor, caller = *caller, act = std::move(act), complete = std::move(complete),
                 &reply = asked.reply](Turn& turn) {
    const Status fits = reactor->place().check_memory(caller.user);
    if (!fits.ok()) return reactor->finish(fits);
    const Status acted = act(caller, turn);
    reactor->place().hold(reply.ByteSizeLong());
    turn.waiting.push_back([reactor, acted, complete](const Status& written) {
      const Status& status = acted.ok() ? written : acted;
      if (status.ok() && complete) complete();
      reactor->finish(status);
    });
  };
  const bool heard = reactor->in_time() && state_.loop->post(std::move(event));
  if (!heard) reactor->Finish(ending());
  return reactor;
}

grpc::ServerUnaryReactor* SchedulerCalls::Submit(grpc::CallbackServerContext* context,
                                                 const v1::SubmitRequest* request,
                                                 v1::SubmitReply* reply) {
  return answer(
      {"Submit", *context, *request, *reply},
      [this, request, reply](const jobs::Caller& caller, Turn& turn) -> Status {
        ATTUNE_ASSIGN(*reply, submit(state_.options.state, caller, *request, turn));
        return {};
      },
      [this, reply] {
        if (reply->already_known()) state_.options.add_report(*reply->mutable_job());
      });
}

grpc::ServerUnaryReactor* SchedulerCalls::Control(grpc::CallbackServerContext* context,
                                                  const v1::ControlRequest* request,
                                                  v1::ControlReply* reply) {
  return answer({"Control", *context, *request, *reply},
                [request, reply](const jobs::Caller& caller, Turn& turn) -> Status {
                  ATTUNE_ASSIGN(*reply->mutable_job(),
                                turn.book.control(caller, *request, turn.now));
                  return {};
                });
}

grpc::ServerUnaryReactor* SchedulerCalls::List(grpc::CallbackServerContext* context,
                                               const v1::ListRequest* request,
                                               v1::Snapshot* reply) {
  return answer(
      {"List", *context, *request, *reply},
      [request, reply](const jobs::Caller& caller, Turn& turn) -> Status {
        ATTUNE_ASSIGN(*reply, turn.book.snapshot(caller, *request, turn.now));
        return {};
      },
      [this, request, reply] {
        if (!request->job().empty()) state_.options.add_report(*reply->mutable_jobs(0));
      });
}

grpc::ServerUnaryReactor* SchedulerCalls::Prune(grpc::CallbackServerContext* context,
                                                const v1::PruneRequest* request,
                                                v1::PruneReply* reply) {
  return answer(
      {"Prune", *context, *request, *reply},
      [request, reply](const jobs::Caller& caller, Turn& turn) -> Status {
        ATTUNE_ASSIGN(*reply, turn.book.prune(caller, *request, turn.now));
        return {};
      },
      [this, request] {
        if (!request->dry_run()) state_.options.pruned();
      });
}

grpc::ServerUnaryReactor* SchedulerCalls::Token(grpc::CallbackServerContext* context,
                                                const v1::TokenRequest* request,
                                                v1::TokenReply* reply) {
  return answer(
      {"Token", *context, *request, *reply},
      [this, request, reply](const jobs::Caller& caller, Turn& turn) -> Status {
        const bool worker = request->purpose() == v1::WORKER;
        const jobs::Right right = worker ? jobs::Right::WorkerToken : jobs::Right::TunerToken;
        if (!jobs::may(jobs::standing_of(caller, state_.uid), right)) {
          return wire::denied("only the scheduler's user may let workers take part",
                              "a tuner needs no --worker");
        }
        reply->set_token(state_.options.tokens->hand_out(
            caller.uid, worker ? jobs::Standing::Worker : jobs::Standing::Tuner, turn.now));
        reply->set_seconds(Tokens::kGoodSeconds);
        return {};
      });
}

grpc::ServerWriteReactor<v1::Snapshot>* SchedulerCalls::Watch(grpc::CallbackServerContext* context,
                                                              const v1::ListRequest* request) {
  const Result<jobs::Caller> caller = admit("Watch", *context);
  if (!caller.ok()) {
    return new Refused<grpc::ServerWriteReactor<v1::Snapshot>>(state_, caller.error());
  }
  const std::uint64_t id = state_.next_id++;
  auto* stream = new WatchStream(state_, id, *caller);
  {
    const std::lock_guard lock(state_.mutex);
    state_.watchers[id] = stream;
  }
  stream->begin(*request);
  return stream;
}

grpc::ServerBidiReactor<v1::FromWorker, v1::ToWorker>* SchedulerCalls::Work(
    grpc::CallbackServerContext* context) {
  const Result<jobs::Caller> caller = admit("Work", *context);
  if (!caller.ok()) {
    return new Refused<grpc::ServerBidiReactor<v1::FromWorker, v1::ToWorker>>(state_,
                                                                              caller.error());
  }
  const jobs::WorkerId id = state_.next_id++;
  auto* stream = new WorkStream(state_, id, *caller, *context);
  {
    const std::lock_guard lock(state_.mutex);
    state_.workers[id] = stream;
  }
  stream->begin();
  return stream;
}

grpc::ServerReadReactor<v1::FilePart>* SchedulerCalls::Upload(grpc::CallbackServerContext* context,
                                                              v1::UploadReply* reply) {
  const Result<jobs::Caller> caller = admit("Upload", *context);
  if (caller.ok()) return new UploadStream(state_, caller->uid, *reply);
  return new Refused<grpc::ServerReadReactor<v1::FilePart>>(state_, caller.error());
}

grpc::ServerWriteReactor<v1::FilePart>* SchedulerCalls::Fetch(grpc::CallbackServerContext* context,
                                                              const v1::FetchRequest* request) {
  const Result<jobs::Caller> caller = admit("Fetch", *context);
  if (caller.ok()) return new FetchStream(state_, *caller, request->job());
  return new Refused<grpc::ServerWriteReactor<v1::FilePart>>(state_, caller.error());
}

}  // namespace attune::server

#include "fleet/server/calls.h"

#include <fmt/format.h>
#include <time.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "fleet/jobs/book/user_limits.h"
#include "fleet/server/file_streams.h"
#include "fleet/server/retention/leftovers.h"
#include "fleet/server/streams.h"
#include "fleet/server/tokens.h"
#include "fleet/wire/denied.h"
#include "fleet/wire/status.h"

namespace attune::server {
namespace {

using Kind = UnderWay::Kind;
constexpr const char* kDiskIsSlow = "the scheduler's disk is slow; try again when it has caught up";

// A call with one answer.
class Answer final : public grpc::ServerUnaryReactor {
 public:
  Answer(CallState& state, jobs::Caller caller, Unanswered& unanswered)
      : under_way_(state, std::move(caller), Kind::Answer), place_(unanswered) {}
  const UnderWay& under_way() const { return under_way_; }
  Unanswered::Place& place() { return place_; }
  void finish(const Status& status) {
    Finish(status.ok() ? grpc::Status::OK : wire::to_status(status.error()));
  }
  void OnDone() override { delete this; }

 private:
  UnderWay under_way_;
  Unanswered::Place place_;
};

// Of this thread: what others take of the machine meanwhile is no caller's fault.
double busy_seconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The end of a stream that is not begun.
template <typename Reactor>
class Refused final : public Reactor {
 public:
  Refused(std::unique_ptr<UnderWay> under_way, const Error& why)
      : under_way_(std::move(under_way)) {
    this->Finish(wire::to_status(why));
  }
  void OnDone() override { delete this; }

 private:
  const std::unique_ptr<UnderWay> under_way_;
};

// Nothing: there are no such files of this user.
std::optional<std::uint64_t> bytes_sent(const std::string& state, std::uint32_t uid,
                                        const std::string& files) {
  if (!jobs::is_upload_of(uid, files) || !has_upload(state, files)) return std::nullopt;
  return upload_bytes(state, files);
}

// The job gets what was sent for it (so many bytes, or nothing) before anybody can be given the
// job.
Result<v1::SubmitReply> submit(const std::string& state, const jobs::Caller& caller,
                               const v1::SubmitRequest& request,
                               const std::optional<std::uint64_t>& sent, Turn& turn) {
  const std::string& files = request.spec().files();
  ATTUNE_ASSIGN(v1::SubmitReply reply,
                turn.book.submit(caller, request, turn.now, sent.value_or(0)));
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

Status SchedulerCalls::admit(std::string_view call, const UnderWay& under_way) {
  const jobs::Caller& caller = under_way.caller();
  ATTUNE_RETURN_IF_ERROR(jobs::check_may_call(caller, state_.uid, call));
  if (rates_ == nullptr || rates_->calls.admit(SteadyClock().now_ns())) return under_way.check();
  return Error{ErrorCode::Exhausted, fmt::format("{} asks this scheduler too often", caller.user),
               "wait a moment; it serves others too"};
}

void SchedulerCalls::charge_for_time(double seconds) {
  if (rates_ == nullptr) return;
  rates_->calls.charge(SteadyClock().now_ns(),
                       times_of(seconds, jobs::kShareOfCalls, jobs::kCallRate));
}

void SchedulerCalls::charge_for_bytes(std::size_t bytes) {
  if (rates_ == nullptr) return;
  rates_->calls.charge(SteadyClock().now_ns(), static_cast<double>(bytes / jobs::kAnswerOfOneCall));
}

// The memory is looked at again when it is the call's turn: answers may be large.
grpc::ServerUnaryReactor* SchedulerCalls::answer(const Asked& asked, Act act,
                                                 std::function<void()> complete, Prepare prepare) {
  auto* reactor = new Answer(state_, who_(asked.context), unanswered_);
  const UnderWay& under_way = reactor->under_way();
  const Status admitted = admit(asked.call, under_way);
  const Status good = admitted.ok() ? reactor->place().check(under_way.caller().user) : admitted;
  if (!good.ok()) {
    reactor->finish(good);
    return reactor;
  }
  reactor->place().hold(asked.request.ByteSizeLong());
  Event event = [this, reactor, act = std::move(act), complete = std::move(complete),
                 &reply = asked.reply](Turn& turn) {
    const jobs::Caller& caller = reactor->under_way().caller();
    const Status fits = reactor->place().check_memory(caller.user);
    if (!fits.ok()) return reactor->finish(fits);
    const double begun = busy_seconds();
    const Status acted = act(caller, turn);
    charge_for_time(busy_seconds() - begun);
    reactor->place().hold(reply.ByteSizeLong());
    const auto finish = [this, reactor, &reply] {
      charge_for_bytes(reply.ByteSizeLong());
      reactor->Finish(grpc::Status::OK);
    };
    turn.waiting.push_back([this, reactor, acted, complete, finish](const Status& written) {
      const Status& status = acted.ok() ? written : acted;
      if (!status.ok()) return reactor->finish(status);
      if (!complete) return finish();
      state_.reads.add([complete, finish] {
        complete();
        finish();
      });
    });
  };
  const auto ask = [this, reactor, event = std::move(event)] {
    const bool heard = reactor->under_way().in_time() && state_.loop->post(event);
    if (!heard) reactor->Finish(ending());
  };
  if (prepare) {
    state_.files.add([reactor, prepare = std::move(prepare), ask] {
      prepare(reactor->under_way().caller());
      ask();
    });
  } else {
    ask();
  }
  return reactor;
}

grpc::ServerUnaryReactor* SchedulerCalls::Submit(grpc::CallbackServerContext* context,
                                                 const v1::SubmitRequest* request,
                                                 v1::SubmitReply* reply) {
  const auto sent = std::make_shared<std::optional<std::uint64_t>>();
  Prepare prepare;
  if (!request->spec().files().empty()) {
    prepare = [this, request, sent](const jobs::Caller& caller) {
      *sent = bytes_sent(state_.options.state, caller.uid, request->spec().files());
    };
  }
  return answer(
      {"Submit", *context, *request, *reply},
      [this, request, reply, sent](const jobs::Caller& caller, Turn& turn) -> Status {
        ATTUNE_ASSIGN(*reply, submit(state_.options.state, caller, *request, *sent, turn));
        return {};
      },
      [this, reply] {
        if (reply->already_known()) state_.options.add_report(*reply->mutable_job());
      },
      std::move(prepare));
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
      [this, request, reply](const jobs::Caller& caller, Turn& turn) -> Status {
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
      [this, request, reply] {
        if (!request->dry_run() && reply->jobs_size() > 0) state_.options.pruned();
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
  auto under_way = std::make_unique<UnderWay>(state_, who_(*context), Kind::Watcher);
  if (const Status admitted = admit("Watch", *under_way); !admitted.ok()) {
    return new Refused<grpc::ServerWriteReactor<v1::Snapshot>>(std::move(under_way),
                                                               admitted.error());
  }
  const std::uint64_t id = state_.next_id++;
  auto* stream = new WatchStream(state_, id, std::move(under_way));
  {
    const std::lock_guard lock(state_.mutex);
    state_.watchers[id] = stream;
  }
  stream->begin(*request);
  return stream;
}

grpc::ServerBidiReactor<v1::FromWorker, v1::ToWorker>* SchedulerCalls::Work(
    grpc::CallbackServerContext* context) {
  auto under_way = std::make_unique<UnderWay>(state_, who_(*context), Kind::Stream);
  if (const Status admitted = admit("Work", *under_way); !admitted.ok()) {
    return new Refused<grpc::ServerBidiReactor<v1::FromWorker, v1::ToWorker>>(std::move(under_way),
                                                                              admitted.error());
  }
  const jobs::WorkerId id = state_.next_id++;
  auto* stream = new WorkStream(state_, id, std::move(under_way), *context,
                                rates_ == nullptr ? nullptr : &rates_->messages);
  {
    const std::lock_guard lock(state_.mutex);
    state_.workers[id] = stream;
  }
  stream->begin();
  return stream;
}

grpc::ServerReadReactor<v1::FilePart>* SchedulerCalls::Upload(grpc::CallbackServerContext* context,
                                                              v1::UploadReply* reply) {
  auto under_way = std::make_unique<UnderWay>(state_, who_(*context), Kind::Stream);
  const Status admitted = admit("Upload", *under_way);
  if (admitted.ok()) return new UploadStream(state_, std::move(under_way), *reply);
  return new Refused<grpc::ServerReadReactor<v1::FilePart>>(std::move(under_way), admitted.error());
}

grpc::ServerWriteReactor<v1::FilePart>* SchedulerCalls::Fetch(grpc::CallbackServerContext* context,
                                                              const v1::FetchRequest* request) {
  auto under_way = std::make_unique<UnderWay>(state_, who_(*context), Kind::Stream);
  const Status admitted = admit("Fetch", *under_way);
  if (admitted.ok()) return new FetchStream(state_, std::move(under_way), request->job());
  return new Refused<grpc::ServerWriteReactor<v1::FilePart>>(std::move(under_way),
                                                             admitted.error());
}

}  // namespace attune::server

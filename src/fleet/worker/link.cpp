#include "fleet/worker/link.h"

#include <fmt/format.h>
#include <grpcpp/client_context.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "fleet/wire/channel.h"
#include "fleet/wire/jobs.grpc.pb.h"
#include "fleet/wire/state_directory.h"
#include "fleet/wire/status.h"
#include "fleet/worker/messages.h"

namespace attune::worker {
namespace {

constexpr auto kPause = std::chrono::milliseconds(50);  // between two attempts

std::chrono::nanoseconds duration_of(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

bool may_come_back(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE ||
         status.error_code() == grpc::StatusCode::CANCELLED ||
         status.error_code() == grpc::StatusCode::UNIMPLEMENTED;  // somebody else has the port now
}

template <typename Message>
Holding holding_of(const Message& message) {
  return {message.job(), message.epoch()};
}

template <typename Message>
Message& addressed(Message* message, const Holding& holding) {
  message->set_job(holding.job);
  message->set_epoch(holding.epoch);
  return *message;
}

Wish wish_of(v1::Wish wish) { return wish == v1::CANCEL ? Wish::Cancel : Wish::Stop; }

v1::JobState message_of(JobState state) {
  switch (state) {
    case JobState::Done:
      return v1::DONE;
    case JobState::Stopped:
      return v1::STOPPED;
    case JobState::Cancelled:
      return v1::CANCELLED;
    default:
      return v1::FAILED;
  }
}

template <typename Message>
void add_kinds(const std::vector<KindOfStage>& kinds, Message& message) {
  for (const KindOfStage& kind : kinds) {
    v1::StageKind& added = *message.add_kinds();
    added.set_name(kind.name);
    added.set_pool(kind.pool);
    added.set_amount(kind.amount);
    added.set_usual_seconds(kind.usual_seconds);
    added.set_left(kind.left);
  }
}

}  // namespace

// Both directions, on gRPC's threads: one write at a time, and always a read.
class Link::Stream final : public grpc::ClientBidiReactor<v1::FromWorker, v1::ToWorker> {
 public:
  Stream(const std::string& address, LinkEvents& events)
      : events_(events), stub_(v1::Scheduler::NewStub(wire::open_channel(address))) {
    stub_->async()->Work(&context_, this);
    AddHold();  // writes begin outside of its calls
    StartRead(&incoming_);
    StartCall();
  }
  // gRPC uses the object until the call has ended.
  ~Stream() override {
    context_.TryCancel();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return over_; });
  }

  void send(v1::FromWorker message) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    outgoing_.push_back(std::move(message));
    if (outgoing_.size() == 1) StartWrite(&outgoing_.front());
  }

  // Empty when the time is up.
  std::optional<Result<v1::Welcome>> wait_for_welcome(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, until, [&] { return welcome_ || turned_away_ || over_; });
    if (welcome_) return Result<v1::Welcome>(*welcome_);
    if (turned_away_) return Result<v1::Welcome>(*turned_away_);
    if (over_ && !may_come_back(status_)) return Result<v1::Welcome>(wire::from_status(status_));
    return std::nullopt;
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    if (!ok) return;  // the reading side hears of it, too
    outgoing_.pop_front();
    if (!closed_ && !outgoing_.empty()) StartWrite(&outgoing_.front());
  }
  void OnReadDone(bool ok) override {
    if (!ok) {
      {
        const std::lock_guard lock(mutex_);
        closed_ = true;
      }
      RemoveHold();
      return;
    }
    hear(incoming_);
    incoming_ = {};
    StartRead(&incoming_);
  }
  void OnDone(const grpc::Status& status) override {
    bool tell = false;
    {
      const std::lock_guard lock(mutex_);
      tell = welcome_.has_value();
    }
    if (tell) events_.lost(why_lost(status));
    const std::lock_guard lock(mutex_);
    status_ = status;
    over_ = true;
    changed_.notify_all();
  }

  const std::string& name() const { return welcome_->worker(); }

 private:
  static Error why_lost(const grpc::Status& status) {
    if (!status.ok()) return wire::from_status(status);
    return {ErrorCode::Io, "the scheduler ended the connection", {}};
  }

  void hear(const v1::ToWorker& message) {
    switch (message.what_case()) {
      case v1::ToWorker::kWelcome: {
        const std::lock_guard lock(mutex_);
        welcome_ = message.welcome();
        changed_.notify_all();
        return;
      }
      case v1::ToWorker::kAssign:
        return events_.assigned(from_message(message.assign().job()));
      case v1::ToWorker::kStart: {
        const v1::Start& start = message.start();
        return events_.may_start(holding_of(start), start.stage(),
                                 {start.cores().begin(), start.cores().end()});
      }
      case v1::ToWorker::kOrder:
        return events_.wished(holding_of(message.order()), wish_of(message.order().wish()));
      case v1::ToWorker::kRefused:
        return hear_refusal(message.refused());
      case v1::ToWorker::kKnown:
        return events_.known(holding_of(message.known()), message.known().stage());
      case v1::ToWorker::WHAT_NOT_SET:
        return;  // of a later version
    }
  }

  void hear_refusal(const v1::Refused& refused) {
    {
      const std::lock_guard lock(mutex_);
      if (!welcome_) {
        turned_away_ = Error{ErrorCode::Unsupported, refused.why(), {}};
        changed_.notify_all();
        return;
      }
    }
    events_.refused(holding_of(refused), refused.stage(), refused.why());
  }

  LinkEvents& events_;
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

// Says now and then that the worker lives.
class Link::Beats {
 public:
  Beats(Stream& stream, double seconds)
      : thread_([this, &stream, seconds] { run(stream, seconds); }) {}
  ~Beats() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void run(Stream& stream, double seconds) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, duration_of(seconds), [&] { return ending_; })) {
      v1::FromWorker message;
      message.mutable_beat();
      stream.send(std::move(message));
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;
};

Result<std::unique_ptr<Link>> Link::open(const LinkOptions& options, LinkEvents& events) {
  v1::FromWorker hello;
  hello.mutable_hello()->set_version(options.version);
  hello.mutable_hello()->set_name(options.name);
  hello.mutable_hello()->set_pid(getpid());
  hello.mutable_hello()->set_takes_jobs(options.takes_jobs);
  for (const std::string& device : options.devices) hello.mutable_hello()->add_devices(device);
  const auto until = std::chrono::steady_clock::now() + duration_of(options.patience_seconds);
  for (;;) {
    const Result<std::string> address = wire::read_address(options.state);
    if (address.ok()) {
      auto stream = std::make_unique<Stream>(*address, events);
      stream->send(hello);
      if (const auto answer = stream->wait_for_welcome(until)) {
        if (!answer->ok()) return answer->error();
        return std::unique_ptr<Link>(new Link(std::move(stream), (*answer)->beat_seconds()));
      }
    }
    if (std::chrono::steady_clock::now() >= until) {
      return Error{ErrorCode::NotFound,
                   fmt::format("no scheduler serves '{}' for {:g} s", options.state,
                               options.patience_seconds),
                   "start one with 'attune scheduler'"};
    }
    std::this_thread::sleep_for(kPause);
  }
}

Link::Link(std::unique_ptr<Stream> stream, double beat_seconds)
    : stream_(std::move(stream)), beats_(std::make_unique<Beats>(*stream_, beat_seconds)) {}
Link::~Link() = default;

const std::string& Link::name() const { return stream_->name(); }

void Link::say_kinds(const Holding& holding, const std::vector<KindOfStage>& kinds) {
  v1::FromWorker message;
  add_kinds(kinds, addressed(message.mutable_kinds(), holding));
  stream_->send(std::move(message));
}

void Link::offer(const Holding& holding, std::int64_t stage, int kind) {
  v1::FromWorker message;
  v1::Offer& offer = addressed(message.mutable_offer(), holding);
  offer.set_stage(stage);
  offer.set_kind(kind);
  stream_->send(std::move(message));
}

void Link::finished(const Holding& holding, std::int64_t stage, double seconds, StageEnd end,
                    const std::string& message_text) {
  v1::FromWorker message;
  v1::Finished& finished = addressed(message.mutable_finished(), holding);
  finished.set_stage(stage);
  finished.set_seconds(seconds);
  finished.set_end(end == StageEnd::Completed   ? v1::COMPLETED
                   : end == StageEnd::Disturbed ? v1::DISTURBED
                                                : v1::BROKEN);
  finished.set_message(message_text);
  stream_->send(std::move(message));
}

void Link::progressed(const Holding& holding, std::int64_t trials, double best_ms,
                      double default_ms) {
  v1::FromWorker message;
  v1::Progress& progress = addressed(message.mutable_progress(), holding);
  progress.set_trials(trials);
  progress.set_best_ms(best_ms);
  progress.set_default_ms(default_ms);
  stream_->send(std::move(message));
}

void Link::ended(const Holding& holding, JobState state, const std::string& reason,
                 const std::string& result_json) {
  v1::FromWorker message;
  v1::Ended& ended = addressed(message.mutable_ended(), holding);
  ended.set_state(message_of(state));
  ended.set_reason(reason);
  ended.set_result_json(result_json);
  stream_->send(std::move(message));
}

void Link::register_job(const JobRequest& request, const std::vector<KindOfStage>& kinds,
                        const std::string& idempotency_key) {
  v1::FromWorker message;
  v1::Register& registration = *message.mutable_register_();
  *registration.mutable_spec() = to_message(request);
  add_kinds(kinds, registration);
  registration.set_idempotency_key(idempotency_key);
  stream_->send(std::move(message));
}

}  // namespace attune::worker

#include "fleet/client/client.h"

#include <fmt/format.h>
#include <grpcpp/client_context.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "fleet/client/messages.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/denied.h"
#include "fleet/wire/jobs.grpc.pb.h"
#include "fleet/wire/limits.h"
#include "fleet/wire/status.h"

namespace attune::client {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr auto kPause = std::chrono::milliseconds(50);  // between two attempts

std::chrono::nanoseconds duration_of(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

// The connection broke: the scheduler may come back.
bool may_come_back(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE ||
         status.error_code() == grpc::StatusCode::CANCELLED;
}

// What a scheduler says that takes no more connections: gRPC puts it behind other words.
std::optional<Error> farewell(const grpc::Status& status) {
  constexpr std::string_view kBefore = "Debug Text: ";
  const std::string said = status.error_message();
  const std::size_t at = said.find(kBefore);
  if (at == said.npos) return std::nullopt;
  return Error{ErrorCode::Exhausted, said.substr(at + kBefore.size()),
               "wait a moment; it serves others too"};
}

// A list comes in parts: what is said of all together is taken from the last.
void add_part(v1::Snapshot part, v1::Snapshot& all) {
  for (v1::Job& job : *part.mutable_jobs()) *all.add_jobs() = std::move(job);
  part.mutable_jobs()->Swap(all.mutable_jobs());
  all = std::move(part);
}

// The stream of states. Reads on gRPC's threads and keeps the newest; the caller waits for it.
class Watcher final : public grpc::ClientReadReactor<v1::Snapshot> {
 public:
  Watcher(v1::Scheduler::Stub& stub, const v1::ListRequest& request) {
    stub.async()->Watch(&context_, &request, this);
    StartRead(&incoming_);
    StartCall();
  }
  // gRPC uses the object until the call has ended.
  ~Watcher() override {
    context_.TryCancel();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_.has_value(); });
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    const bool last = incoming_.next() == 0;
    add_part(std::move(incoming_), gathered_);
    if (last) {
      const std::lock_guard lock(mutex_);
      newest_ = std::exchange(gathered_, {});
      changed_.notify_all();
    }
    incoming_ = {};
    StartRead(&incoming_);
  }
  void OnDone(const grpc::Status& status) override {
    const std::lock_guard lock(mutex_);
    ended_ = status;
    changed_.notify_all();
  }

  // The newest state since the last call; nothing when the time is up or the stream has ended.
  std::optional<v1::Snapshot> next(double seconds) {
    std::unique_lock lock(mutex_);
    const auto come = [&] { return newest_ || ended_; };
    if (seconds > 0) {
      changed_.wait_for(lock, duration_of(seconds), come);
    } else {
      changed_.wait(lock, come);
    }
    return std::exchange(newest_, std::nullopt);
  }
  std::optional<grpc::Status> ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }

 private:
  grpc::ClientContext context_;
  v1::Snapshot incoming_, gathered_;  // a part, and those before it
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<v1::Snapshot> newest_;
  std::optional<grpc::Status> ended_;
};

}  // namespace

struct Client::Connection {
  ClientOptions options;
  std::uint32_t uid = 0;  // of the scheduler
  std::unique_ptr<v1::Scheduler::Stub> stub = {};

  // To the scheduler of the state directory as it is now.
  Status open() {
    if (stub != nullptr) return {};
    ATTUNE_ASSIGN(const wire::Line line,
                  wire::open_line(options.state, options.answer_seconds / 3));
    uid = line.uid;
    stub = v1::Scheduler::NewStub(line.channel);
    return {};
  }

  bool stopped() const { return options.stop != nullptr && *options.stop; }

  Error nobody() const {
    return {ErrorCode::NotFound, fmt::format("no scheduler serves {}", options.state),
            "start one with 'attune scheduler', or name another with --state DIR"};
  }

  // Somebody listens, but says nothing.
  Error silent() const {
    return {ErrorCode::Io,
            fmt::format("the scheduler that serves {} does not answer", options.state),
            "its process may be stopped, or its disk stand still: try again later"};
  }

  // For a call with one answer. A span rather than a moment: the machine's clock may be set.
  gpr_timespec answer_time() const {
    const double seconds = std::max(options.answer_seconds, options.patience_seconds);
    return gpr_time_from_millis(static_cast<std::int64_t>(seconds * 1e3), GPR_TIMESPAN);
  }

  // Repeats `call` until it gets an answer or the patience is at its end; with any patience at all
  // it is made twice. `call` returns a status; one that may_come_back() is tried again.
  Status persist(const std::function<grpc::Status(v1::Scheduler::Stub&)>& call) {
    const SteadyTime end = std::chrono::steady_clock::now() + duration_of(options.patience_seconds);
    for (bool first = true;;) {
      const bool used_before = stub != nullptr;
      const Status opened = open();
      if (opened.ok()) {
        const grpc::Status status = call(*stub);
        if (status.ok()) return {};
        if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) return silent();
        if (!may_come_back(status)) return wire::from_status(status);
        if (const auto said = farewell(status)) return *said;
        stub.reset();
        if (used_before) continue;  // it was started anew since
      } else if (wire::is_denied(opened.error())) {
        return opened;
      }
      const bool enough =
          first ? options.patience_seconds <= 0 : std::chrono::steady_clock::now() + kPause >= end;
      if (stopped() || enough) return opened.ok() ? silent() : nobody();
      if (first && options.waiting) options.waiting();
      first = false;
      std::this_thread::sleep_for(kPause);
    }
  }
};

Client::Client(ClientOptions options)
    : connection_(std::make_unique<Connection>(Connection{std::move(options)})) {}

Client::~Client() = default;

Result<Submitted> Client::submit(const JobRequest& request, const std::string& key,
                                 const KnownResult& known) {
  v1::SubmitRequest message;
  *message.mutable_spec() = to_message(request);
  message.set_idempotency_key(key);
  message.set_known_json(known.json);
  message.set_known_ms(known.latency_ms);
  v1::SubmitReply reply;
  ATTUNE_RETURN_IF_ERROR(connection_->persist([&](v1::Scheduler::Stub& stub) {
    grpc::ClientContext context;
    context.set_deadline(connection_->answer_time());
    return stub.Submit(&context, message, &reply);
  }));
  return Submitted{.job = from_message(reply.job()), .already_known = reply.already_known()};
}

Result<Overview> Client::list(const std::string& job, bool with_bars) {
  v1::ListRequest message;
  message.set_job(job);
  message.set_with_bars(with_bars);
  v1::Snapshot all, part;
  do {
    ATTUNE_RETURN_IF_ERROR(connection_->persist([&](v1::Scheduler::Stub& stub) {
      grpc::ClientContext context;
      context.set_deadline(connection_->answer_time());
      return stub.List(&context, message, &part);
    }));
    message.set_after(part.next());
    add_part(std::move(part), all);
  } while (message.after() != 0);
  return from_message(all);
}

Result<std::vector<JobStatus>> Client::prune(double older_than_seconds, bool dry_run) {
  v1::PruneRequest message;
  message.set_older_than_seconds(older_than_seconds);
  message.set_dry_run(dry_run);
  std::vector<JobStatus> pruned;
  do {
    v1::PruneReply reply;
    ATTUNE_RETURN_IF_ERROR(connection_->persist([&](v1::Scheduler::Stub& stub) {
      grpc::ClientContext context;
      context.set_deadline(connection_->answer_time());
      return stub.Prune(&context, message, &reply);
    }));
    for (const v1::Job& job : reply.jobs()) pruned.push_back(from_message(job));
    message.set_after(reply.next());
  } while (message.after() != 0);
  return pruned;
}

Result<JobStatus> Client::control(const std::string& job, Wish wish) {
  v1::ControlRequest message;
  message.set_job(job);
  message.set_wish(to_message(wish));
  v1::ControlReply reply;
  ATTUNE_RETURN_IF_ERROR(connection_->persist([&](v1::Scheduler::Stub& stub) {
    grpc::ClientContext context;
    context.set_deadline(connection_->answer_time());
    return stub.Control(&context, message, &reply);
  }));
  return from_message(reply.job());
}

Result<bool> Client::is_own_scheduler() {
  ATTUNE_RETURN_IF_ERROR(
      connection_->persist([](v1::Scheduler::Stub&) { return grpc::Status::OK; }));
  return connection_->uid == ::geteuid();
}

Result<std::string> Client::token(bool worker) {
  v1::TokenRequest message;
  message.set_purpose(worker ? v1::WORKER : v1::TUNER);
  v1::TokenReply reply;
  ATTUNE_RETURN_IF_ERROR(connection_->persist([&](v1::Scheduler::Stub& stub) {
    grpc::ClientContext context;
    context.set_deadline(connection_->answer_time());
    return stub.Token(&context, message, &reply);
  }));
  return reply.token();
}

namespace {

// The bytes of a file, part by part; false when the other end takes no more.
Result<bool> send_file(const SentFile& file, grpc::ClientWriter<v1::FilePart>& writer) {
  std::ifstream stream(file.path, std::ios::binary);
  v1::FilePart part;
  part.set_name(file.name);
  for (bool first = true; stream || first; first = false) {
    if (!first) part.clear_name();
    part.mutable_data()->resize(wire::kFilePartBytes);
    stream.read(part.mutable_data()->data(), wire::kFilePartBytes);
    if (stream.bad() || (first && !stream.is_open())) {
      return Error{ErrorCode::NotFound, fmt::format("cannot read '{}'", file.path), {}};
    }
    part.mutable_data()->resize(static_cast<std::size_t>(stream.gcount()));
    if (!writer.Write(part)) return false;
  }
  return true;
}

}  // namespace

Result<std::string> Client::upload(const std::vector<SentFile>& files) {
  v1::UploadReply reply;
  Status read;  // of the files here
  const Status sent = connection_->persist([&](v1::Scheduler::Stub& stub) {
    grpc::ClientContext context;
    const auto writer = stub.Upload(&context, &reply);
    for (const SentFile& file : files) {
      const Result<bool> went = send_file(file, *writer);
      if (!went.ok()) {
        read = went.error();
        context.TryCancel();
        (void)writer->Finish();
        return grpc::Status::OK;
      }
      if (!*went) break;
    }
    writer->WritesDone();
    return writer->Finish();
  });
  ATTUNE_RETURN_IF_ERROR(read);
  ATTUNE_RETURN_IF_ERROR(sent);
  return reply.files();
}

Status Client::fetch(const std::string& job, const TakePart& take) {
  v1::FetchRequest message;
  message.set_job(job);
  Status taken;
  const Status came = connection_->persist([&](v1::Scheduler::Stub& stub) {
    grpc::ClientContext context;
    const auto reader = stub.Fetch(&context, message);
    v1::FilePart part;
    std::string name;
    while (taken.ok() && reader->Read(&part)) {
      if (!part.name().empty()) name = part.name();
      taken = take(name, part.data());
    }
    if (!taken.ok()) context.TryCancel();
    const grpc::Status status = reader->Finish();
    return taken.ok() ? status : grpc::Status::OK;
  });
  ATTUNE_RETURN_IF_ERROR(taken);
  return came;
}

Status Client::watch(const std::string& job, double tick_seconds,
                     const std::function<bool(const Overview&)>& show) {
  v1::ListRequest message;
  message.set_job(job);
  message.set_with_bars(true);
  bool wanted = true;
  while (wanted && !connection_->stopped()) {
    const Status status = connection_->persist([&](v1::Scheduler::Stub& stub) -> grpc::Status {
      Watcher watcher(stub, message);
      std::optional<Overview> newest;
      while (wanted && !connection_->stopped()) {
        if (const auto snapshot = watcher.next(tick_seconds)) {
          newest = from_message(*snapshot);
        } else if (const auto ended = watcher.ended()) {
          if (ended->ok()) wanted = false;
          // After something came, patience begins anew.
          return newest && may_come_back(*ended) ? grpc::Status::OK : *ended;
        }
        if (newest) wanted = show(*newest);
      }
      return grpc::Status::OK;
    });
    if (!status.ok() && !connection_->stopped()) return status;
  }
  return {};
}

}  // namespace attune::client

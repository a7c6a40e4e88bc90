#include "fleet/worker/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/utf8.h"
#include "fleet/client/messages.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/denied.h"
#include "fleet/wire/secret.h"
#include "fleet/worker/connection.h"
#include "fleet/worker/pending.h"

namespace attune::worker {
namespace {

constexpr auto kPause = std::chrono::milliseconds(50);  // between two attempts
// Of the lease: so long a broken line is mended. What runs then has the rest of it to end. Time in
// which nobody serves does not count, as nobody else could be given the job then; but one who never
// comes back is not waited for.
constexpr double kMendingShare = 0.5;
constexpr double kLongestOutageSeconds = 120;

using Time = std::chrono::steady_clock::time_point;

std::chrono::nanoseconds duration_of(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
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

client::Wish wish_of(v1::Wish wish) {
  return wish == v1::CANCEL ? client::Wish::Cancel : client::Wish::Stop;
}

v1::JobState message_of(client::JobState state) {
  switch (state) {
    case client::JobState::Done:
      return v1::DONE;
    case client::JobState::Stopped:
      return v1::STOPPED;
    case client::JobState::Cancelled:
      return v1::CANCELLED;
    case client::JobState::Queued:
      return v1::QUEUED;
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

// The line: a connection, what to say again over the next one, and a thread that says now and then
// that the worker lives, and mends what broke.
class Link::Line final : public Listener {
 public:
  Line(LinkOptions options, LinkEvents& events) : options_(std::move(options)), events_(events) {}
  ~Line() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    if (keeper_.joinable()) keeper_.join();
    connection_.reset();  // it says that it broke
  }

  // Until somebody says welcome, or the time is up.
  Status open() {
    Result<v1::Welcome> welcome = connect(options_.patience_seconds, 0);
    if (!welcome.ok()) return welcome.error();
    name_ = welcome->worker();
    keeper_ = std::thread([this] { keep(); });
    return {};
  }

  void send(v1::FromWorker message) {
    const std::lock_guard lock(mutex_);
    pending_.said(message);
    if (connection_) connection_->send(std::move(message));
  }
  const std::string& name() const { return name_; }

  void hear(const v1::ToWorker& message) override {
    {
      const std::lock_guard lock(mutex_);
      pending_.heard(message);
    }
    switch (message.what_case()) {
      case v1::ToWorker::kAssign:
        return events_.assigned(
            client::from_message(message.assign().job()),
            {std::max(message.assign().devices(), 1), message.assign().device_cores()});
      case v1::ToWorker::kStart: {
        const v1::Start& start = message.start();
        return events_.may_start(holding_of(start), start.stage(),
                                 {start.cores().begin(), start.cores().end()});
      }
      case v1::ToWorker::kOrder:
        return events_.wished(holding_of(message.order()), wish_of(message.order().wish()));
      case v1::ToWorker::kRefused:
        return events_.refused(holding_of(message.refused()), message.refused().stage(),
                               message.refused().why());
      case v1::ToWorker::kKnown:
        return events_.known(holding_of(message.known()), message.known().stage());
      default:
        return;  // of a later version
    }
  }
  void broke(const Error& why) override {
    const std::lock_guard lock(mutex_);
    broken_ = why;
    changed_.notify_all();
  }

 private:
  v1::FromWorker hello() {
    const std::lock_guard lock(mutex_);
    v1::FromWorker message;
    v1::Hello& hello = *message.mutable_hello();
    hello.set_version(options_.version);
    hello.set_name(options_.name);
    hello.set_secret(secret_);
    if (!welcomed_) hello.set_token(options_.token);
    hello.set_takes_jobs(true);
    for (const std::string& device : options_.devices) hello.add_devices(device);
    for (const v1::Holding& holding : pending_.holdings()) *hello.add_holds() = holding;
    return message;
  }

  // Tries for so long, and for up to `outage_seconds` more while no scheduler is there.
  Result<v1::Welcome> connect(double seconds, double outage_seconds) {
    auto until = Time::clock::now() + duration_of(seconds);
    const Time latest = until + duration_of(outage_seconds);
    for (;;) {
      const Time begun = Time::clock::now();
      const Result<wire::Line> line = wire::open_line(options_.state);
      const bool nobody = !line.ok() && line.error().code == ErrorCode::NotFound;
      if (!line.ok() && wire::is_denied(line.error())) return line.error();
      if (line.ok()) {
        auto connection = std::make_unique<Connection>(line->channel, *this);
        connection->send(hello());
        if (const auto answer = connection->wait_for_welcome(until)) {
          if (answer->ok()) use(std::move(connection), **answer);
          return *answer;
        }
      }
      std::unique_lock lock(mutex_);
      if (!ending_) changed_.wait_for(lock, kPause, [&] { return ending_; });
      if (nobody) until = std::min(until + (Time::clock::now() - begun), latest);
      if (ending_ || Time::clock::now() >= until) break;
    }
    return Error{ErrorCode::NotFound,
                 fmt::format("no scheduler serves '{}' for {:g} s", options_.state, seconds),
                 "start one with 'attune scheduler'"};
  }

  void use(std::unique_ptr<Connection> connection, const v1::Welcome& welcome) {
    const std::lock_guard lock(mutex_);
    welcome_ = welcome;
    welcomed_ = true;
    for (const v1::FromWorker& message : pending_.again()) connection->send(message);
    connection_ = std::move(connection);
  }

  void keep() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait_for(lock, duration_of(welcome_.beat_seconds()),
                        [&] { return ending_ || broken_; });
      if (ending_) return;
      if (broken_) {
        const Error why = *std::exchange(broken_, std::nullopt);
        std::unique_ptr<Connection> old = std::move(connection_);
        const double seconds = pending_.empty() ? 0 : kMendingShare * welcome_.lease_seconds();
        lock.unlock();
        old.reset();
        if (seconds <= 0 || !connect(seconds, kLongestOutageSeconds).ok()) {
          return events_.lost(why);
        }
        lock.lock();
      } else {
        v1::FromWorker beat;
        beat.mutable_beat();
        connection_->send(std::move(beat));
      }
    }
  }

  const LinkOptions options_;
  const std::string secret_ = wire::random_secret();
  LinkEvents& events_;
  std::string name_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  Pending pending_;
  v1::Welcome welcome_;
  bool welcomed_ = false;                   // the token is used up
  std::unique_ptr<Connection> connection_;  // none while it is mended
  std::optional<Error> broken_;
  bool ending_ = false;
  std::thread keeper_;
};

Result<std::unique_ptr<Link>> Link::open(const LinkOptions& options, LinkEvents& events) {
  auto line = std::make_unique<Line>(options, events);
  ATTUNE_RETURN_IF_ERROR(line->open());
  return std::unique_ptr<Link>(new Link(std::move(line)));
}

Link::Link(std::unique_ptr<Line> line) : line_(std::move(line)) {}
Link::~Link() = default;

const std::string& Link::name() const { return line_->name(); }

void Link::say_kinds(const Holding& holding, const std::vector<KindOfStage>& kinds) {
  v1::FromWorker message;
  add_kinds(kinds, addressed(message.mutable_kinds(), holding));
  line_->send(std::move(message));
}

void Link::offer(const Holding& holding, std::int64_t stage, int kind) {
  v1::FromWorker message;
  v1::Offer& offer = addressed(message.mutable_offer(), holding);
  offer.set_stage(stage);
  offer.set_kind(kind);
  line_->send(std::move(message));
}

void Link::finished(const Holding& holding, std::int64_t stage, double seconds, StageEnd end,
                    const std::string& message_text) {
  v1::FromWorker message;
  v1::Finished& finished = addressed(message.mutable_finished(), holding);
  finished.set_stage(stage);
  finished.set_seconds(seconds);
  finished.set_end(end == StageEnd::Completed   ? v1::COMPLETED
                   : end == StageEnd::Disturbed ? v1::DISTURBED
                   : end == StageEnd::Withdrawn ? v1::WITHDRAWN
                                                : v1::BROKEN);
  finished.set_message(as_utf8(message_text));
  line_->send(std::move(message));
}

void Link::progressed(const Holding& holding, std::int64_t trials, double best_ms,
                      double default_ms) {
  v1::FromWorker message;
  v1::Progress& progress = addressed(message.mutable_progress(), holding);
  progress.set_trials(trials);
  progress.set_best_ms(best_ms);
  progress.set_default_ms(default_ms);
  line_->send(std::move(message));
}

void Link::ended(const Holding& holding, client::JobState state, const std::string& reason,
                 const std::string& result_json) {
  v1::FromWorker message;
  v1::Ended& ended = addressed(message.mutable_ended(), holding);
  ended.set_state(message_of(state));
  ended.set_reason(as_utf8(reason));  // may tell of any file
  ended.set_result_json(result_json);
  line_->send(std::move(message));
}

}  // namespace attune::worker

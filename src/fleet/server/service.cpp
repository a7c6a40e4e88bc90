#include "fleet/server/service.h"

#include <fmt/format.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "fleet/server/event_loop.h"
#include "fleet/wire/jobs.grpc.pb.h"
#include "fleet/wire/status.h"

namespace attune::server {
namespace {

constexpr int kLargestMessage = 256 << 20;  // a report of a large model

grpc::Status ending() { return {grpc::StatusCode::UNAVAILABLE, "the scheduler is about to end"}; }

// What was said over all connections of one service.
struct Shared;

// A connection that the server writes to: one message at a time, in order. gRPC calls it back.
class WorkStream final : public grpc::ServerBidiReactor<v1::FromWorker, v1::ToWorker> {
 public:
  WorkStream(Shared& shared, jobs::WorkerId id) : shared_(shared), id_(id) {}

  void begin() { StartRead(&incoming_); }
  void send(const v1::ToWorker& message);
  void close();  // after what was sent

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone() override;
  void OnCancel() override { close(); }

 private:
  void finish_if_idle(std::unique_lock<std::mutex>& lock);

  Shared& shared_;
  jobs::WorkerId id_;
  bool joined_ = false;
  v1::FromWorker incoming_;
  std::mutex mutex_;
  std::deque<v1::ToWorker> outgoing_;  // the first is being written
  bool closing_ = false, finished_ = false;
};

class WatchStream final : public grpc::ServerWriteReactor<v1::Snapshot> {
 public:
  WatchStream(Shared& shared, std::uint64_t id) : shared_(shared), id_(id) {}

  void begin(const v1::ListRequest& request);
  void OnWriteDone(bool ok) override;
  void OnDone() override;
  void OnCancel() override;

 private:
  void deliver(Result<v1::Snapshot> snapshot);
  void finish(const grpc::Status& status);

  Shared& shared_;
  std::uint64_t id_;
  v1::Snapshot outgoing_;
  std::mutex mutex_;
  bool writing_ = false, cancelled_ = false, finished_ = false;
};

struct Shared {
  Adopt adopt;
  EventLoop* loop = nullptr;
  std::atomic<std::uint64_t> next_id = 1;
  std::mutex mutex;
  std::condition_variable gone;
  std::unordered_map<jobs::WorkerId, WorkStream*> workers;
  std::unordered_map<std::uint64_t, WatchStream*> watchers;
  int answers = 0, awaited = 0;  // calls under way, and those that came before the end began
  bool closing = false;
};

// A call with one answer. Those who called before the server began to close get theirs.
class Answer final : public grpc::ServerUnaryReactor {
 public:
  explicit Answer(Shared& shared) : shared_(shared) {
    const std::lock_guard lock(shared_.mutex);
    awaited_ = !shared_.closing;
    shared_.answers += 1;
    shared_.awaited += awaited_ ? 1 : 0;
  }
  bool awaited() const { return awaited_; }

  void OnDone() override {
    {
      const std::lock_guard lock(shared_.mutex);
      shared_.answers -= 1;
      shared_.awaited -= awaited_ ? 1 : 0;
      shared_.gone.notify_all();
    }
    delete this;
  }

 private:
  Shared& shared_;
  bool awaited_ = false;
};

// ---- a worker's connection

void WorkStream::send(const v1::ToWorker& message) {
  const std::lock_guard lock(mutex_);
  if (closing_ || finished_) return;
  outgoing_.push_back(message);
  if (outgoing_.size() == 1) StartWrite(&outgoing_.front());
}

void WorkStream::close() {
  std::unique_lock lock(mutex_);
  closing_ = true;
  finish_if_idle(lock);
}

void WorkStream::finish_if_idle(std::unique_lock<std::mutex>& lock) {
  if (!closing_ || finished_ || !outgoing_.empty()) return;
  finished_ = true;
  lock.unlock();
  Finish(grpc::Status::OK);
}

void WorkStream::OnReadDone(bool ok) {
  if (!ok) {
    if (joined_) {
      shared_.loop->post([id = id_](Turn& turn) {
        turn.changed = true;
        turn.book.left(id, turn.now);
      });
    }
    return close();
  }
  const bool first = !std::exchange(joined_, true);
  const bool local = first && shared_.adopt(id_, incoming_.hello().pid());
  shared_.loop->post([id = id_, first, local, message = std::move(incoming_)](Turn& turn) {
    turn.changed = turn.changed || !message.has_beat();
    if (first) turn.book.joined(id, local, turn.now);
    turn.book.said(id, message, turn.now);
  });
  incoming_.Clear();
  StartRead(&incoming_);
}

void WorkStream::OnWriteDone(bool ok) {
  std::unique_lock lock(mutex_);
  outgoing_.pop_front();
  if (!ok) {
    outgoing_.clear();
    closing_ = true;
  }
  if (!outgoing_.empty()) return StartWrite(&outgoing_.front());
  finish_if_idle(lock);
}

void WorkStream::OnDone() {
  {
    const std::lock_guard lock(shared_.mutex);
    shared_.workers.erase(id_);
    shared_.gone.notify_all();
  }
  delete this;
}

// ---- somebody who watches

void WatchStream::begin(const v1::ListRequest& request) {
  const bool heard =
      shared_.loop->watch(id_, request, [&shared = shared_, id = id_](auto snapshot) {
        const std::lock_guard lock(shared.mutex);
        const auto found = shared.watchers.find(id);
        if (found != shared.watchers.end()) found->second->deliver(std::move(snapshot));
      });
  if (!heard) finish(ending());
}

void WatchStream::deliver(Result<v1::Snapshot> snapshot) {
  if (!snapshot.ok()) return finish(wire::to_status(snapshot.error()));
  const std::lock_guard lock(mutex_);
  if (finished_ || cancelled_) return;
  outgoing_ = std::move(*snapshot);
  writing_ = true;
  StartWrite(&outgoing_);
}

void WatchStream::finish(const grpc::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || writing_) return;
    finished_ = true;
  }
  Finish(status);
}

void WatchStream::OnWriteDone(bool ok) {
  {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    ok = ok && !cancelled_;
  }
  if (!ok) return finish(grpc::Status::CANCELLED);
  shared_.loop->watcher_ready(id_);
}

// A write that is under way finishes the stream when it ends.
void WatchStream::OnCancel() {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  finish(grpc::Status::CANCELLED);
}

void WatchStream::OnDone() {
  shared_.loop->unwatch(id_);
  {
    const std::lock_guard lock(shared_.mutex);
    shared_.watchers.erase(id_);
    shared_.gone.notify_all();
  }
  delete this;
}

// ---- the calls

class SchedulerCalls final : public v1::Scheduler::CallbackService {
 public:
  explicit SchedulerCalls(Shared& shared) : shared_(shared) {}

  grpc::ServerUnaryReactor* Submit(grpc::CallbackServerContext*, const v1::SubmitRequest* request,
                                   v1::SubmitReply* reply) override {
    return answer([request, reply](Turn& turn) -> Status {
      Result<v1::SubmitReply> submitted = turn.book.submit(*request, turn.now);
      if (!submitted.ok()) return submitted.error();
      *reply = std::move(*submitted);
      return {};
    });
  }

  grpc::ServerUnaryReactor* Control(grpc::CallbackServerContext*, const v1::ControlRequest* request,
                                    v1::ControlReply* reply) override {
    return answer([request, reply](Turn& turn) -> Status {
      Result<v1::Job> job = turn.book.control(*request, turn.now);
      if (!job.ok()) return job.error();
      *reply->mutable_job() = std::move(*job);
      return {};
    });
  }

  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext*, const v1::ListRequest* request,
                                 v1::Snapshot* reply) override {
    return answer([request, reply](Turn& turn) -> Status {
      Result<v1::Snapshot> snapshot = turn.book.snapshot(*request, turn.now);
      if (!snapshot.ok()) return snapshot.error();
      *reply = std::move(*snapshot);
      return {};
    });
  }

  grpc::ServerWriteReactor<v1::Snapshot>* Watch(grpc::CallbackServerContext*,
                                                const v1::ListRequest* request) override {
    const std::uint64_t id = shared_.next_id++;
    auto* stream = new WatchStream(shared_, id);
    {
      const std::lock_guard lock(shared_.mutex);
      shared_.watchers[id] = stream;
    }
    stream->begin(*request);
    return stream;
  }

  grpc::ServerBidiReactor<v1::FromWorker, v1::ToWorker>* Work(
      grpc::CallbackServerContext*) override {
    const jobs::WorkerId id = shared_.next_id++;
    auto* stream = new WorkStream(shared_, id);
    {
      const std::lock_guard lock(shared_.mutex);
      shared_.workers[id] = stream;
    }
    stream->begin();
    return stream;
  }

 private:
  // Answers when all that the call and those before it changed is on the disk.
  grpc::ServerUnaryReactor* answer(std::function<Status(Turn&)> act) {
    auto* reactor = new Answer(shared_);
    const bool heard =
        reactor->awaited() && shared_.loop->post([reactor, act = std::move(act)](Turn& turn) {
          turn.waiting.push_back([reactor, acted = act(turn)](const Status& written) {
            const Status& status = acted.ok() ? written : acted;
            reactor->Finish(status.ok() ? grpc::Status::OK : wire::to_status(status.error()));
          });
        });
    if (!heard) reactor->Finish(ending());
    return reactor;
  }

  Shared& shared_;
};

class GrpcService final : public Service {
 public:
  explicit GrpcService(Adopt adopt) : calls_(shared_) { shared_.adopt = std::move(adopt); }

  Status serve_at(EventLoop& loop) override {
    shared_.loop = &loop;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    builder.SetMaxReceiveMessageSize(kLargestMessage);
    builder.RegisterService(&calls_);
    server_ = builder.BuildAndStart();
    if (server_ != nullptr && port_ != 0) return {};
    return Error{ErrorCode::Io, "cannot serve on the loopback device 127.0.0.1", {}};
  }

  std::string address() const override { return fmt::format("127.0.0.1:{}", port_); }

  void shut_down() override {
    if (server_ == nullptr) return;
    std::unique_lock lock(shared_.mutex);
    shared_.closing = true;
    shared_.gone.wait(lock, [&] { return shared_.awaited == 0; });
    lock.unlock();
    server_->Shutdown(std::chrono::system_clock::now());
    lock.lock();
    shared_.gone.wait(lock, [&] {
      return shared_.workers.empty() && shared_.watchers.empty() && shared_.answers == 0;
    });
    lock.unlock();
    server_.reset();
  }

  void send(jobs::WorkerId worker, const v1::ToWorker& message) override {
    const std::lock_guard lock(shared_.mutex);
    const auto found = shared_.workers.find(worker);
    if (found != shared_.workers.end()) found->second->send(message);
  }

  void close(jobs::WorkerId worker) override {
    const std::lock_guard lock(shared_.mutex);
    const auto found = shared_.workers.find(worker);
    if (found != shared_.workers.end()) found->second->close();
  }

 private:
  Shared shared_;
  SchedulerCalls calls_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace

std::unique_ptr<Service> make_service(Adopt adopt) {
  return std::make_unique<GrpcService>(std::move(adopt));
}

}  // namespace attune::server

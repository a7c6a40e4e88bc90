// A scheduler that schedules nothing: it remembers jobs, does as it is told, and says what a test
// wants it to say. For tests of what talks to one.
#pragma once

#include <fmt/format.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/temporary_directory_testing.h"
#include "fleet/wire/jobs.grpc.pb.h"
#include "fleet/wire/state_directory.h"
#include "fleet/wire/status.h"

namespace attune::client {

class FakeScheduler {
 public:
  // Serves a state directory of its own, which goes with it.
  FakeScheduler();
  ~FakeScheduler();
  FakeScheduler(const FakeScheduler&) = delete;
  FakeScheduler& operator=(const FakeScheduler&) = delete;

  const std::string& state() const { return state_; }
  // From now on, to those who watch at once.
  void say(const v1::Snapshot& snapshot);
  // What whoever fetches a job is sent from now on: names and bytes, each in one message.
  void has_made(std::vector<std::pair<std::string, std::string>> files);
  // Goes away as a killed one does, and comes back.
  void stop();
  void start();

 private:
  struct Service;
  test::TemporaryDirectory folder_;
  std::string state_ = folder_.path().string();
  std::unique_ptr<Service> service_;
};

struct FakeScheduler::Service final : v1::Scheduler::Service {
  std::mutex mutex;
  std::condition_variable changed;
  v1::Snapshot snapshot;
  std::map<std::string, std::string> ids;  // by key
  std::vector<std::pair<std::string, std::string>> files;
  std::int64_t version = 0;
  bool closing = false;
  std::unique_ptr<grpc::Server> server;

  // The job of that id or name; the lock is held.
  v1::Job* find(const std::string& text) {
    for (v1::Job& job : *snapshot.mutable_jobs()) {
      if (job.id() == text || job.spec().name() == text) return &job;
    }
    return nullptr;
  }
  static grpc::Status unknown(const std::string& text) {
    return wire::to_status({ErrorCode::NotFound, fmt::format("there is no job '{}'", text),
                            "'attune jobs' lists them"});
  }
  void note_change() {
    ++version;
    changed.notify_all();
  }

  grpc::Status Submit(grpc::ServerContext*, const v1::SubmitRequest* request,
                      v1::SubmitReply* reply) override {
    const std::lock_guard lock(mutex);
    const auto known = ids.find(request->idempotency_key());
    if (known != ids.end()) {
      *reply->mutable_job() = *find(known->second);
      reply->set_already_known(true);
      return grpc::Status::OK;
    }
    v1::Job& job = *snapshot.add_jobs();
    job.set_id(fmt::format("{}", snapshot.jobs_size()));
    *job.mutable_spec() = request->spec();
    if (job.spec().name().empty()) job.mutable_spec()->set_name("job-" + job.id());
    ids[request->idempotency_key()] = job.id();
    *reply->mutable_job() = job;
    note_change();
    return grpc::Status::OK;
  }

  grpc::Status List(grpc::ServerContext*, const v1::ListRequest* request,
                    v1::Snapshot* reply) override {
    const std::lock_guard lock(mutex);
    return answer(*request, *reply);
  }

  grpc::Status answer(const v1::ListRequest& request, v1::Snapshot& reply) {
    reply = snapshot;
    if (request.job().empty()) return grpc::Status::OK;
    const v1::Job* job = find(request.job());
    if (job == nullptr) return unknown(request.job());
    reply.clear_jobs();
    *reply.add_jobs() = *job;
    return grpc::Status::OK;
  }

  grpc::Status Control(grpc::ServerContext*, const v1::ControlRequest* request,
                       v1::ControlReply* reply) override {
    const std::lock_guard lock(mutex);
    v1::Job* job = find(request->job());
    if (job == nullptr) return unknown(request->job());
    constexpr v1::JobState kAfter[] = {v1::PAUSED, v1::QUEUED, v1::STOPPED, v1::CANCELLED};
    job->set_state(kAfter[request->wish()]);
    *reply->mutable_job() = *job;
    note_change();
    return grpc::Status::OK;
  }

  grpc::Status Fetch(grpc::ServerContext*, const v1::FetchRequest*,
                     grpc::ServerWriter<v1::FilePart>* writer) override {
    const std::lock_guard lock(mutex);
    for (const auto& [name, bytes] : files) {
      v1::FilePart part;
      part.set_name(name);
      part.set_data(bytes);
      if (!writer->Write(part)) break;
    }
    return grpc::Status::OK;
  }

  grpc::Status Watch(grpc::ServerContext* context, const v1::ListRequest* request,
                     grpc::ServerWriter<v1::Snapshot>* writer) override {
    std::unique_lock lock(mutex);
    for (std::int64_t written = -1; !closing && !context->IsCancelled();) {
      if (written != version) {
        written = version;
        v1::Snapshot reply;
        const grpc::Status status = answer(*request, reply);
        if (!status.ok()) return status;
        lock.unlock();
        const bool open = writer->Write(reply);
        lock.lock();
        if (!open) return grpc::Status::OK;
        continue;
      }
      // A client that goes does not say so to a thread that waits.
      changed.wait_for(lock, std::chrono::milliseconds(20));
    }
    return {grpc::StatusCode::UNAVAILABLE, "closing"};
  }
};

inline FakeScheduler::FakeScheduler() : service_(std::make_unique<Service>()) {
  service_->snapshot.set_policy("fake");
  start();
}

inline FakeScheduler::~FakeScheduler() { stop(); }

inline void FakeScheduler::say(const v1::Snapshot& snapshot) {
  const std::lock_guard lock(service_->mutex);
  service_->snapshot = snapshot;
  service_->note_change();
}

inline void FakeScheduler::has_made(std::vector<std::pair<std::string, std::string>> files) {
  const std::lock_guard lock(service_->mutex);
  service_->files = std::move(files);
}

inline void FakeScheduler::stop() {
  if (service_->server == nullptr) return;
  {
    const std::lock_guard lock(service_->mutex);
    service_->closing = true;
    service_->changed.notify_all();
  }
  service_->server->Shutdown(std::chrono::system_clock::now());
  service_->server.reset();
}

inline void FakeScheduler::start() {
  service_->closing = false;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + wire::socket_path(state_), grpc::InsecureServerCredentials());
  builder.RegisterService(service_.get());
  service_->server = builder.BuildAndStart();
  CHECK(service_->server != nullptr, "the fake scheduler does not start");
}

}  // namespace attune::client

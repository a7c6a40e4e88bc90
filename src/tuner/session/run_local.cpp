#include "tuner/session/run_local.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace attune::session {
namespace {

// One thread per resource, each with at most one stage.
class Lanes {
 public:
  explicit Lanes(Session& session) : session_(session) {}
  ~Lanes() {
    for (auto& [resource, lane] : lanes_) {
      if (lane.thread.joinable()) lane.thread.join();
    }
  }

  bool is_free(Resource resource) const {
    const auto found = lanes_.find(resource);
    return found == lanes_.end() || !found->second.thread.joinable();
  }
  bool all_free() const { return is_free(Resource::HostCores) && is_free(Resource::Device); }

  void start(const Stage& stage) {
    Lane& lane = lanes_[resource_of(stage)];
    lane.thread = std::thread([this, &lane, stage] {
      Status status = session_.run(stage);
      const std::lock_guard lock(mutex_);
      lane.result = std::move(status);
      changed_.notify_all();
    });
  }

  // Waits until a stage ends; frees its lane.
  Status wait() {
    std::unique_lock lock(mutex_);
    Lane* done = nullptr;
    changed_.wait(lock, [&] {
      for (auto& [resource, lane] : lanes_) {
        if (lane.result) done = &lane;
      }
      return done != nullptr;
    });
    Status status = *std::exchange(done->result, std::nullopt);
    lock.unlock();
    done->thread.join();
    return status;
  }

 private:
  struct Lane {
    std::thread thread;
    std::optional<Status> result;
  };
  Session& session_;
  std::mutex mutex_;  // guards the results
  std::condition_variable changed_;
  std::map<Resource, Lane> lanes_;
};

}  // namespace

Status run_local(Session& session, Observer* observer, const std::atomic<bool>* stop) {
  Lanes lanes(session);
  Status failed;
  for (;;) {
    const bool stopping = !failed.ok() || (stop != nullptr && stop->load());
    if (!stopping) {
      for (const Stage& stage : session.ready_stages()) {
        if (lanes.is_free(resource_of(stage))) lanes.start(stage);
      }
    }
    if (lanes.all_free()) break;
    if (const Status status = lanes.wait(); !status.ok() && failed.ok()) failed = status;
    if (observer != nullptr) observer->progressed(session.progress());
  }
  CHECK(!failed.ok() || session.finished() || (stop != nullptr && stop->load()),
        "a session that is not finished has a ready stage");
  return failed;
}

}  // namespace attune::session

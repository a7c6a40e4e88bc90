// Writes what happened to the state file, on a thread of its own, so that the scheduler goes on
// deciding while the disk works. What gathers meanwhile is written together. Those who wait for an
// acknowledgement are called when all that was appended before is on the disk.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "fleet/server/state_file.h"
#include "fleet/server/turns.h"

namespace attune::server {

class Journal {
 public:
  // `on_failure` is called at the first failure, when those who waited have heard of it; nothing is
  // written from then on.
  Journal(StateFile file, std::function<void(const Error&)> on_failure);
  ~Journal();  // after all has been written
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void append(std::vector<jobs::JobRow> jobs, std::vector<jobs::StageRow> stages,
              std::vector<Acknowledge> waiting);

  // How long the disk has been busy with what is being written now; 0: nothing is.
  double writing_seconds() const;

 private:
  struct Batch {
    std::vector<jobs::JobRow> jobs;
    std::vector<jobs::StageRow> stages;
    std::vector<Acknowledge> waiting;
    bool empty() const { return jobs.empty() && stages.empty() && waiting.empty(); }
  };
  void run();
  Status write(Batch& batch);

  StateFile file_;
  std::function<void(const Error&)> on_failure_;
  Status failure_;
  std::atomic<std::int64_t> writing_since_ns_ = 0;
  std::mutex mutex_;
  std::condition_variable appended_;
  Batch gathered_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace attune::server

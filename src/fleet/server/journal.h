// Writes what happened to the state file, on a thread of its own, so that the scheduler goes on
// deciding while the disk works. What gathers meanwhile is written together, of a job only how it
// is at last, so that a disk that stands still does not fill the memory. Those who wait for an
// acknowledgement are called when all that was appended before is on the disk.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/sync_folder.h"
#include "fleet/server/state_file.h"
#include "fleet/server/turns.h"

namespace attune::server {

class Journal {
 public:
  using Sync = std::function<Status(const std::string& folder)>;
  // `on_failure` is called at the first failure, when those who waited have heard of it; nothing is
  // written from then on.
  Journal(StateFile file, std::function<void(const Error&)> on_failure, Sync sync = sync_folder);
  ~Journal();  // after all has been written
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void append(Changes changes, std::vector<Acknowledge> waiting);
  // Removes stages that ran, some at a time: those that ended before, and the oldest of more.
  void trim_stages(double before, std::int64_t most);

  // How long the disk has been busy with what is being written now; 0: nothing is.
  double writing_seconds() const;

 private:
  struct Trim {
    double before = 0;
    std::int64_t most = 0;
  };
  struct Batch {
    std::map<std::int64_t, jobs::JobRow> jobs;  // the last of each, by number
    std::vector<jobs::StageRow> stages;
    std::vector<jobs::ForgottenJob> forgotten;
    std::set<std::string> folders;
    std::vector<Acknowledge> waiting;
    std::optional<Trim> trim;
    bool changes_nothing() const {
      return jobs.empty() && stages.empty() && forgotten.empty() && folders.empty();
    }
    bool empty() const { return changes_nothing() && waiting.empty() && !trim; }
  };
  void run();
  void trim(const Trim& limits);
  Status write(Batch& batch);
  Status write_all(Batch& batch);

  StateFile file_;
  std::function<void(const Error&)> on_failure_;
  Sync sync_;
  Status failure_;
  std::atomic<std::int64_t> writing_since_ns_ = 0;
  std::mutex mutex_;
  std::condition_variable appended_;
  Batch gathered_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace attune::server

// The reports of jobs that have ended: they lie in the state file, and are read when somebody asks.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "fleet/server/state_file.h"

namespace attune::server {

class Reports {
 public:
  // A connection of its own, only to read.
  explicit Reports(StateFile file) : file_(std::move(file)) {}

  // Adds its report to a job that has ended, where it has none yet. From any thread.
  void add_to(v1::Job& job) {
    if (job.state() < v1::DONE || !job.result_json().empty()) return;
    const std::lock_guard lock(mutex_);
    if (Result<std::string> report = file_.read_report(job.id()); report.ok()) {
      job.set_result_json(std::move(*report));
    }
  }

 private:
  std::mutex mutex_;
  StateFile file_;
};

}  // namespace attune::server

// What a job keeps between its workers: its records, from which the next worker goes on, and its
// report once it is done. One worker at a time has it.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "base/result.h"

namespace attune::job_worker {

struct JobReport {
  std::string json = {};
  bool stopped = false;  // before its budget was spent, because somebody wished so
};

class JobFolder {
 public:
  // Makes the folder where it is missing and waits until no other worker has it, or `dropped`.
  // Another may have lost the job and not have noticed yet: it is waited for that long.
  struct Taken {
    std::string by;  // "process 17"
  };
  using Opened = std::variant<JobFolder, Taken>;
  static Result<Opened> open(const std::string& path, const std::atomic<bool>& dropped,
                             double patience_seconds = 3);
  JobFolder(JobFolder&& other) noexcept;
  JobFolder& operator=(JobFolder&&) = delete;
  ~JobFolder();

  std::string records() const { return path_ + "/records.db"; }
  std::string artifact() const { return path_ + "/model.attune"; }

  // A number that the first worker chose holds for all: its search is gone on with.
  Result<int> chosen(const std::string& name, int value) const;

  // The report of the job, once all that it says has happened; kept for the worker after one that
  // died before it could say so.
  std::optional<JobReport> report() const;
  Status keep_report(const JobReport& report) const;

 private:
  JobFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  void sweep() const;

  std::string path_;
  int lock_ = -1;
};

}  // namespace attune::job_worker

// Where a job among others works: every stage waits until the scheduler admits it, and runs on the
// cores that it was given, which are those of its thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/job_worker/remote_admission.h"
#include "fleet/worker/link.h"
#include "tuner/measure/builder/calling_builder.h"
#include "tuner/measure/runner.h"
#include "tuner/tuning/tuning.h"
#include "tuner/whole_model/tuning_resources.h"

namespace attune::job_worker {

// Measures on the cores of the calling thread, with measuring children for each such set; sets that
// do not meet measure side by side. Or on a device of its own, of which there is one.
class CoresRunner final : public measure::Runner {
 public:
  CoresRunner(const tuning::Tuning& tuning, target::Target target);
  Result<std::vector<measure::RunResult>> measure(std::span<const measure::RunRequest> requests,
                                                  const measure::Expectation& expectation,
                                                  const measure::RunOptions& options) override;
  Result<std::vector<measure::RunResult>> compare(std::span<const measure::RunRequest> requests,
                                                  const measure::Expectation& expectation,
                                                  const measure::RunOptions& options) override;
  std::string device() const override { return tuning_.device(); }
  std::string condition() override;
  double busy_seconds() const override;

 private:
  Result<measure::Runner*> here();

  const tuning::Tuning& tuning_;
  const target::Target target_;
  const bool is_apart_;  // from the cores
  mutable std::mutex mutex_;
  std::map<std::vector<int>, std::unique_ptr<measure::Runner>> runners_;  // by their cores
};

// What somebody wants of a job while it runs.
struct JobWishes {
  std::atomic<bool> enough = false;   // end with the best so far
  std::atomic<bool> dropped = false;  // end with nothing
};

// Batches of a job in flight at once: one on each device of its kind, and of those that are
// prepared meanwhile one less than `prefetch`.
int batches_in_flight(const client::JobRequest& request, const worker::Devices& devices);

class JobResources final : public whole_model::TuningResources {
 public:
  JobResources(RemoteAdmission& admission, const JobWishes& wishes, int batches,
               std::function<void(std::size_t)> tasks_known);

  Status open(const target::Target& target) override;
  measure::Builder& builder() override { return *builder_; }
  measure::Runner& runner() override { return *runner_; }
  session::Admission& admission() override { return admission_; }
  const Clock& clock() const override { return admission_.clock(); }
  bool overlap() const override { return batches_ > 1; }
  int task_window() const override { return batches_; }
  int window() const override { return batches_ * kRoundsOfBatch; }
  int batch() const override { return kRoundsOfBatch; }
  const std::atomic<bool>* enough() const override { return &wishes_.enough; }
  int cores() const override { return cores_; }
  void expect_tasks(std::size_t count) override { tasks_known_(count); }
  Status aside(const std::function<Status()>& work) override;

 protected:
  const std::atomic<bool>* dropped() const override { return &wishes_.dropped; }
  Status go_home() override;

 private:
  RemoteAdmission& admission_;
  const JobWishes& wishes_;
  int batches_;  // in flight at once
  std::function<void(std::size_t)> tasks_known_;
  std::vector<int> home_;  // where the driving thread stands between stages of the run
  int cores_;              // of host and devices
  std::unique_ptr<builder::CallingBuilder> builder_;
  std::unique_ptr<CoresRunner> runner_;
};

}  // namespace attune::job_worker

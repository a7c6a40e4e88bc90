#include "app/job_worker/job_resources.h"

#include <algorithm>
#include <utility>

#include "runtime/execution/affinity.h"
#include "targets/kinds.h"
#include "tuner/tunings/tunings.h"

namespace attune::job_worker {

CoresRunner::CoresRunner(const tuning::Tuning& tuning, target::Target target)
    : tuning_(tuning),
      target_(std::move(target)),
      is_apart_(targets::kind_of(target_).requirements(target_).own_memory) {}

Result<measure::Runner*> CoresRunner::here() {
  // A device of its own is the same from whichever core it is asked.
  const std::vector<int> cores = is_apart_ ? std::vector<int>() : runtime::allowed_cores();
  const std::lock_guard lock(mutex_);
  std::unique_ptr<measure::Runner>& runner = runners_[cores];
  if (!runner) {
    ATTUNE_ASSIGN(runner, tuning_.start_runner({.target = target_, .cores = cores}));
  }
  return runner.get();
}

Result<std::vector<measure::RunResult>> CoresRunner::measure(
    std::span<const measure::RunRequest> requests, const measure::Expectation& expectation,
    const measure::RunOptions& options) {
  ATTUNE_ASSIGN(measure::Runner * runner, here());
  return runner->measure(requests, expectation, options);
}

Result<std::vector<measure::RunResult>> CoresRunner::compare(
    std::span<const measure::RunRequest> requests, const measure::Expectation& expectation,
    const measure::RunOptions& options) {
  ATTUNE_ASSIGN(measure::Runner * runner, here());
  return runner->compare(requests, expectation, options);
}

std::string CoresRunner::condition() {
  const std::lock_guard lock(mutex_);
  return runners_.empty() ? "" : runners_.begin()->second->condition();
}

double CoresRunner::busy_seconds() const {
  const std::lock_guard lock(mutex_);
  double seconds = 0;
  for (const auto& [cores, runner] : runners_) seconds += runner->busy_seconds();
  return seconds;
}

int batches_in_flight(const client::JobRequest& request, const worker::Devices& devices) {
  const int prefetch = std::max(request.prefetch, 1);
  return request.in_turn ? prefetch : prefetch + std::max(devices.count, 1) - 1;
}

JobResources::JobResources(RemoteAdmission& admission, const JobWishes& wishes, int batches,
                           std::function<void(std::size_t)> tasks_known)
    : admission_(admission),
      wishes_(wishes),
      batches_(batches),
      tasks_known_(std::move(tasks_known)),
      home_(admission.groups() ? admission.groups()->host_cores() : runtime::allowed_cores()),
      cores_(static_cast<int>(
          (admission.groups() ? admission.groups()->all_cores() : runtime::allowed_cores())
              .size())) {}

Status JobResources::open(const target::Target& target) {
  builder_ = std::make_unique<builder::CallingBuilder>(target);
  ATTUNE_ASSIGN(const tuning::Tuning* tuning, tunings::find_tuning(target));
  runner_ = std::make_unique<CoresRunner>(*tuning, target);
  return {};
}

// The loop that drives does little, but not where others measure.
Status JobResources::aside(const std::function<Status()>& work) {
  const std::vector<int> before = home_;
  if (std::vector<int> host = admission_.host_cores(); !host.empty()) home_ = std::move(host);
  ATTUNE_RETURN_IF_ERROR(go_home());
  Status done = work();
  home_ = before;
  ATTUNE_RETURN_IF_ERROR(go_home());
  return done;
}

Status JobResources::go_home() { return admission_.stand_on(home_); }

}  // namespace attune::job_worker

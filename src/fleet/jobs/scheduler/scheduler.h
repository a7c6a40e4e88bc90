// The scheduler: jobs offer stages that are ready, it says which may start. It has no clock, no
// threads and no files; a server or a simulation tells it what happens and when. All that it
// decides comes from `plan` (policy.h).
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fleet/jobs/scheduler/policy.h"
#include "fleet/jobs/scheduler/predictor.h"

namespace attune::jobs {

struct Pool {
  std::string name;
  int capacity = 1;
};

// What stages of one kind need.
struct Need {
  std::uint32_t pool = 0;
  int amount = 1;
};

struct JobSpec {
  std::uint32_t user = 0;
  double priority = 1;
  // By kind: what is usual for its stages, how many are to come, and what they need (empty: not
  // known).
  std::vector<double> usual_seconds = {};
  std::vector<double> stages_left = {};
  std::vector<Need> needs = {};
  int prefetch = 1;  // batches in flight at once
  double attained_seconds = 0;
};

struct Offer {
  JobIndex job = 0;
  std::uint32_t kind = 0;
  std::uint32_t pool = 0;
  int amount = 1;
  std::uint32_t group = 0;  // that co-location rules speak of
};

struct Start {
  StageId stage = 0;
  JobIndex job = 0;
  std::uint32_t kind = 0;
  std::uint32_t pool = 0;
  int slot = 0;  // of the pool, from 0; the first unit that the stage has
};

class Scheduler {
 public:
  Scheduler(const std::vector<Pool>& pools, const Policy& policy, CoLocation rules = {},
            std::vector<int> user_quotas = {});

  JobIndex add_job(JobSpec spec, double now);
  // It has ended; its index will be another job's.
  void remove_job(JobIndex job);
  StageId offer(const Offer& offer, double now);
  // A stage that began before there was this scheduler, and runs on these units of its pool.
  StageId take_up(const Offer& offer, std::vector<int> slots, double ready_at);
  // What may start now; it counts as running from here on.
  std::vector<Start> dispatch(double now);
  // A running stage is done, after as many seconds on its resource.
  void finish(StageId stage, double now, double seconds);
  // A running stage is given up; the time that it had teaches nothing.
  void abandon(StageId stage);
  // Takes back what is ready but not running.
  void withdraw(JobIndex job);
  void withdraw_stage(StageId stage);
  // Paused jobs and those that ended are not counted among the active ones.
  void set_active(JobIndex job, bool active);
  // Corrects how many stages of each kind are to come.
  void set_stages_left(JobIndex job, std::vector<double> stages_left);
  // Says anew what kinds of stages a job has; what was observed is forgotten.
  void set_kinds(JobIndex job, std::vector<double> usual_seconds, std::vector<Need> needs);
  // Says anew what is usual for one kind; what was observed stays.
  void set_usual_seconds(JobIndex job, std::uint32_t kind, double seconds);
  // From here on stages of the two groups do not start beside each other.
  void forbid(std::uint32_t group, std::uint32_t other) { rules_.forbid(group, other); }

  // Units of its pool that a running stage has, from 0.
  const std::vector<int>& slots_of(StageId stage) const;

  // Of a stage of this kind.
  double predicted_seconds(JobIndex job, std::uint32_t kind) const {
    return details_[job].predictor.seconds(kind);
  }
  View view(double now) const;
  std::size_t running() const { return running_.size(); }

 private:
  struct Job {
    Predictor predictor;
    std::vector<double> stages_left = {};
    std::vector<Need> needs = {};
    int prefetch = 1;
    // Where and when its last stage finished.
    std::uint32_t last_pool = 0;
    double last_finished = -1;
  };
  struct Taken {
    std::vector<int> slots;
  };
  struct Unit {
    bool taken = false;
    JobIndex holder = kNoJob;  // the job that it was given to last
  };
  std::size_t position_of(StageId stage) const;
  void begin(const StageView& stage, std::vector<int> slots);
  void release(std::size_t position);
  std::vector<int> take_slots(const StageView& stage);
  void find_holders(std::uint32_t pool);
  void predict_remaining(JobIndex job);
  double path_seconds(const Job& job) const;
  std::vector<double> work_left(const Job& job) const;
  void count_work(const JobView& job, double sign);
  std::uint32_t busiest() const;

  const Policy& policy_;
  CoLocation rules_;
  std::vector<PoolView> pools_;
  std::vector<std::vector<Unit>> units_;  // of each pool
  std::vector<UserView> users_;
  std::vector<JobView> jobs_;
  std::vector<Job> details_;
  std::vector<StageView> ready_, running_;
  std::vector<Taken> taken_;                           // parallel to running_
  std::vector<JobIndex> free_;                         // of jobs that were removed
  std::set<std::pair<double, JobIndex>> active_jobs_;  // by the time of their submission
  StageId next_stage_ = 1;
};

}  // namespace attune::jobs

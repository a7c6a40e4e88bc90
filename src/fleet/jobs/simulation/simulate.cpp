#include "fleet/jobs/simulation/simulate.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/check.h"
#include "fleet/jobs/policies/policies.h"
#include "fleet/jobs/simulation/shared_pool.h"

namespace attune::jobs {
namespace {

class Simulation {
 public:
  using Quotas = std::map<std::string, int>;
  Simulation(const std::vector<Pool>& pools, const std::vector<DrawnJob>& jobs,
             const Policy& policy, const Quotas& quotas, bool with_bars)
      : drawn_(jobs), scheduler_(pools, policy, {}, in_order(quotas)), with_bars_(with_bars) {
    for (const Pool& pool : pools) shared_.emplace_back(pool.capacity);
    for (const auto& [user, quota] : quotas) user_of(user);
    run_.jobs.resize(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) arrivals_.push_back(i);
    std::stable_sort(arrivals_.begin(), arrivals_.end(), [&](std::size_t a, std::size_t b) {
      return drawn_[a].job.submit_at < drawn_[b].job.submit_at;
    });
  }

  SimulatedRun run() {
    while (true) {
      submit_arrived();
      for (const Start& start : scheduler_.dispatch(now_)) begin(start);
      if (!advance()) break;
    }
    CHECK(alive_ == 0, "the simulation ended with jobs left");
    return std::move(run_);
  }

 private:
  struct Live {
    std::size_t index;  // in drawn_
    MockProgress progress;
  };
  struct RunningStage {
    Start start;
    MockProgress::Place place;
    double began = 0;
    std::vector<int> slots = {};  // when bars are wanted
  };

  // Users with a quota are the first, by name.
  static std::vector<int> in_order(const Quotas& quotas) {
    std::vector<int> numbers;
    for (const auto& [user, quota] : quotas) numbers.push_back(quota);
    return numbers;
  }

  void submit_arrived() {
    for (; next_arrival_ < arrivals_.size(); ++next_arrival_) {
      const DrawnJob& drawn = drawn_[arrivals_[next_arrival_]];
      if (drawn.job.submit_at > now_) return;
      JobSpec spec{.user = user_of(drawn.job.user), .priority = drawn.job.priority};
      for (std::size_t kind = 0; kind < drawn.job.kinds(); ++kind) {
        const StageModel& stage = drawn.job.kind(kind);
        spec.usual_seconds.push_back(stage.mean_seconds);
        spec.stages_left.push_back(drawn.job.count(kind));
        spec.needs.push_back({stage.pool, stage.amount});
      }
      spec.prefetch = drawn.job.prefetch;
      const JobIndex job = scheduler_.add_job(std::move(spec), now_);
      live_.push_back({arrivals_[next_arrival_], MockProgress(drawn.job)});
      ++alive_;
      offer_ready(job);
    }
  }

  std::uint32_t user_of(const std::string& name) {
    return users_.emplace(name, static_cast<std::uint32_t>(users_.size())).first->second;
  }

  void offer_ready(JobIndex job) {
    Live& live = live_[job];
    for (const MockProgress::Place& place : live.progress.newly_ready()) {
      const StageModel& stage = drawn_[live.index].job.kind(place.kind);
      const StageId id = scheduler_.offer(
          {job, static_cast<std::uint32_t>(place.kind), stage.pool, stage.amount}, now_);
      places_[id] = place;
    }
  }

  void begin(const Start& start) {
    const MockProgress::Place place = places_.extract(start.stage).mapped();
    const DrawnJob& drawn = drawn_[live_[start.job].index];
    shared_[start.pool].start(start.stage, drawn.job.kind(place.kind).amount,
                              drawn.at(place.batch, place.kind));
    running_[start.stage] = {start, place, now_,
                             with_bars_ ? scheduler_.slots_of(start.stage) : std::vector<int>()};
  }

  // To the next thing that happens; false when nothing will.
  bool advance() {
    double next = next_arrival_ < arrivals_.size() ? drawn_[arrivals_[next_arrival_]].job.submit_at
                                                   : SharedPool::kNever;
    SharedPool* ending = nullptr;
    for (SharedPool& pool : shared_) {
      const double end = pool.next_end(now_);
      if (end < next) next = end, ending = &pool;
    }
    if (next == SharedPool::kNever) return false;
    for (SharedPool& pool : shared_) pool.advance(next - now_);
    now_ = next;
    if (ending != nullptr) complete(ending->pop());
    return true;
  }

  void complete(StageId id) {
    RunningStage stage = running_.extract(id).mapped();
    const JobIndex job = stage.start.job;
    scheduler_.finish(id, now_, now_ - stage.began);
    ++run_.stages;
    if (with_bars_) {
      run_.bars.push_back({static_cast<JobIndex>(live_[job].index), stage.start.kind,
                           stage.start.pool, std::move(stage.slots), stage.began, now_});
    }
    live_[job].progress.finish(stage.place);
    if (!live_[job].progress.finished()) {
      offer_ready(job);
      return;
    }
    run_.jobs[live_[job].index].completed_at = now_;
    run_.makespan = now_;
    --alive_;
    scheduler_.set_active(job, false);
  }

  const std::vector<DrawnJob>& drawn_;
  Scheduler scheduler_;
  bool with_bars_;
  double now_ = 0;
  std::size_t alive_ = 0;
  std::vector<SharedPool> shared_;
  std::vector<std::size_t> arrivals_;
  std::size_t next_arrival_ = 0;
  std::map<std::string, std::uint32_t> users_;
  std::vector<Live> live_;  // by JobIndex
  std::unordered_map<StageId, MockProgress::Place> places_;
  std::unordered_map<StageId, RunningStage> running_;
  SimulatedRun run_;
};

std::vector<double> work_of(std::size_t pools, const DrawnJob& drawn) {
  std::vector<double> work(pools, 0.0);
  for (std::size_t kind = 0; kind < drawn.job.kinds(); ++kind) {
    const StageModel& stage = drawn.job.kind(kind);
    for (int batch = 0; batch < drawn.job.count(kind); ++batch) {
      work[stage.pool] += stage.amount * drawn.at(batch, kind);
    }
  }
  return work;
}

double alone_seconds(const std::vector<Pool>& pools, DrawnJob drawn) {
  drawn.job.submit_at = 0;
  return Simulation(pools, {drawn}, **find_policy("fair"), {}, false).run().makespan;
}

// With 1/n of every pool, work on one of them is all that can be done at a time.
double fair_share_seconds(const std::vector<Pool>& pools, const DrawnJob& drawn, std::size_t jobs,
                          double alone) {
  const std::vector<double> work = work_of(pools.size(), drawn);
  double seconds = alone;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    seconds = std::max(seconds, work[i] * static_cast<double>(jobs) / pools[i].capacity);
  }
  return seconds;
}

}  // namespace

double lower_bound(const std::vector<Pool>& pools, const std::vector<DrawnJob>& jobs) {
  std::vector<double> work(pools.size(), 0.0);
  double bound = 0;
  for (const DrawnJob& drawn : jobs) {
    const std::vector<double> own = work_of(pools.size(), drawn);
    for (std::size_t i = 0; i < work.size(); ++i) work[i] += own[i];
    bound = std::max(bound, drawn.job.submit_at + critical_path(drawn));
  }
  for (std::size_t i = 0; i < work.size(); ++i) {
    bound = std::max(bound, work[i] / pools[i].capacity);
  }
  return bound;
}

std::vector<std::size_t> jobs_present(const std::vector<Stay>& stays) {
  std::vector<double> begins, ends;
  for (const Stay& stay : stays) begins.push_back(stay.from), ends.push_back(stay.to);
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  std::vector<std::size_t> present;
  for (const Stay& stay : stays) {
    const auto come = std::lower_bound(begins.begin(), begins.end(), stay.to) - begins.begin();
    const auto gone = std::upper_bound(ends.begin(), ends.end(), stay.from) - ends.begin();
    present.push_back(static_cast<std::size_t>(std::max<std::ptrdiff_t>(come - gone, 1)));
  }
  return present;
}

double SimulatedRun::mean_slowdown() const {
  double sum = 0;
  for (const JobResult& job : jobs) sum += job.completed_at / job.alone_seconds;
  return jobs.empty() ? 0 : sum / static_cast<double>(jobs.size());
}

double SimulatedRun::worst_share_ratio() const {
  double worst = 0;
  for (const JobResult& job : jobs) {
    worst = std::max(worst, job.completed_at / job.fair_share_seconds);
  }
  return worst;
}

SimulatedRun simulate(const Experiment& experiment, const Policy& policy, std::uint64_t seed,
                      bool with_bars) {
  Rng rng(seed);
  std::vector<DrawnJob> drawn;
  for (const MockJob& job : experiment.jobs) {
    drawn.push_back(draw_times(job, experiment.heterogeneity, experiment.noise, rng));
  }
  SimulatedRun run =
      Simulation(experiment.pools, drawn, policy, experiment.quotas, with_bars).run();
  run.lower_bound = lower_bound(experiment.pools, drawn);
  run.utilisation.assign(experiment.pools.size(), 0.0);
  std::vector<Stay> stays;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    stays.push_back({drawn[i].job.submit_at, run.jobs[i].completed_at});
  }
  const std::vector<std::size_t> present = jobs_present(stays);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    JobResult& result = run.jobs[i];
    result.completed_at -= drawn[i].job.submit_at;
    result.alone_seconds = alone_seconds(experiment.pools, drawn[i]);
    result.fair_share_seconds =
        fair_share_seconds(experiment.pools, drawn[i], present[i], result.alone_seconds);
    const std::vector<double> work = work_of(experiment.pools.size(), drawn[i]);
    for (std::size_t pool = 0; pool < work.size(); ++pool) {
      run.utilisation[pool] += work[pool] / (experiment.pools[pool].capacity * run.makespan);
    }
  }
  return run;
}

}  // namespace attune::jobs

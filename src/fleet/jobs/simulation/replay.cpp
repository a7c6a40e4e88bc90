#include "fleet/jobs/simulation/replay.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <unordered_map>

#include "fleet/jobs/policies/policies.h"
#include "fleet/jobs/simulation/gantt.h"
#include "fleet/jobs/simulation/shared_pool.h"

namespace attune::jobs {
namespace {

// What made a stage ready, and how long before: another stage, or the submission of its job.
struct Cause {
  std::optional<std::size_t> stage = {};
  double delay = 0;
};

std::vector<Cause> causes_of(const RecordedRun& run) {
  constexpr double kTolerance = 1e-3;  // between the messages that end one and offer the next
  std::vector<std::vector<std::size_t>> by_end(run.jobs.size());
  for (std::size_t i = 0; i < run.stages.size(); ++i) by_end[run.stages[i].job].push_back(i);
  const auto end_of = [&](std::size_t stage) { return run.stages[stage].ended_at; };
  for (auto& own : by_end) {
    std::stable_sort(own.begin(), own.end(),
                     [&](std::size_t a, std::size_t b) { return end_of(a) < end_of(b); });
  }
  std::vector<Cause> causes;
  for (const RecordedStage& stage : run.stages) {
    const auto& own = by_end[stage.job];
    const auto later = std::upper_bound(
        own.begin(), own.end(), std::min(stage.ready_at + kTolerance, stage.started_at),
        [&](double time, std::size_t other) { return time < end_of(other); });
    Cause cause{.delay = std::max(0.0, stage.ready_at - run.jobs[stage.job].submitted_at)};
    if (later != own.begin()) {
      cause.stage = *std::prev(later);
      cause.delay = std::max(0.0, stage.ready_at - end_of(*cause.stage));
    }
    causes.push_back(cause);
  }
  return causes;
}

// The work of each pool, in seconds of its units, of one job or of all.
std::vector<double> work_of(const RecordedRun& run, std::optional<std::size_t> job = {}) {
  std::vector<double> work(run.pools.size(), 0.0);
  for (const RecordedStage& stage : run.stages) {
    if (!job || *job == stage.job) work[stage.pool] += stage.amount() * stage.seconds();
  }
  return work;
}

class Replay {
 public:
  Replay(const RecordedRun& run, const Policy& policy)
      : recorded_(run), causes_(causes_of(run)), scheduler_(run.pools, policy) {
    for (const Pool& pool : run.pools) shared_.emplace_back(pool.capacity);
    left_.resize(run.jobs.size(), 0);
    indices_.resize(run.jobs.size(), kNoJob);
    effects_.resize(run.stages.size());
    run_.jobs.resize(run.jobs.size());
    for (std::size_t i = 0; i < run.stages.size(); ++i) {
      const RecordedStage& stage = run.stages[i];
      ++left_[stage.job];
      if (causes_[i].stage) {
        effects_[*causes_[i].stage].push_back(i);
      } else {
        ready_.push({run.jobs[stage.job].submitted_at + causes_[i].delay, i});
      }
    }
  }

  SimulatedRun run() {
    while (true) {
      while (!ready_.empty() && ready_.top().first <= now_) {
        offer(ready_.top().second);
        ready_.pop();
      }
      for (const Start& start : scheduler_.dispatch(now_)) begin(start);
      if (!advance()) break;
    }
    CHECK(running_.empty() && places_.empty(), "the replay ended with stages left");
    return std::move(run_);
  }

 private:
  using Moment = std::pair<double, std::size_t>;  // when, and which stage
  struct Running {
    Start start;
    std::size_t stage = 0;
    double began = 0;
    std::vector<int> slots = {};
  };

  JobIndex index_of(std::size_t job) {
    if (indices_[job] != kNoJob) return indices_[job];
    const RecordedJob& recorded = recorded_.jobs[job];
    JobSpec spec{.user = users_.emplace(recorded.user, users_.size()).first->second,
                 .priority = recorded.priority,
                 .usual_seconds = std::vector<double>(recorded.kinds.size(), 0.0),
                 .stages_left = std::vector<double>(recorded.kinds.size(), 0.0),
                 .needs = std::vector<Need>(recorded.kinds.size()),
                 .prefetch = recorded.prefetch};
    for (const RecordedStage& stage : recorded_.stages) {
      if (stage.job != job) continue;
      spec.usual_seconds[stage.kind] += stage.seconds();
      spec.stages_left[stage.kind] += 1;
      spec.needs[stage.kind] = {stage.pool, stage.amount()};
    }
    for (std::size_t i = 0; i < spec.usual_seconds.size(); ++i) {
      spec.usual_seconds[i] =
          spec.stages_left[i] > 0 ? spec.usual_seconds[i] / spec.stages_left[i] : 1.0;
    }
    return indices_[job] = scheduler_.add_job(std::move(spec), now_);
  }

  void offer(std::size_t at) {
    const RecordedStage& stage = recorded_.stages[at];
    const StageId id =
        scheduler_.offer({index_of(stage.job), stage.kind, stage.pool, stage.amount()}, now_);
    places_[id] = at;
  }

  void begin(const Start& start) {
    const std::size_t at = places_.extract(start.stage).mapped();
    const RecordedStage& stage = recorded_.stages[at];
    shared_[stage.pool].start(start.stage, stage.amount(), stage.seconds());
    running_[start.stage] = {start, at, now_, scheduler_.slots_of(start.stage)};
  }

  // To the next thing that happens; false when nothing will.
  bool advance() {
    double next = ready_.empty() ? SharedPool::kNever : ready_.top().first;
    SharedPool* ending = nullptr;
    for (SharedPool& pool : shared_) {
      const double end = pool.next_end(now_);
      if (end < next) next = end, ending = &pool;
    }
    if (next == SharedPool::kNever) return false;
    next = std::max(next, now_);
    for (SharedPool& pool : shared_) pool.advance(next - now_);
    now_ = next;
    if (ending != nullptr) complete(ending->pop());
    return true;
  }

  void complete(StageId id) {
    Running done = running_.extract(id).mapped();
    const RecordedStage& stage = recorded_.stages[done.stage];
    scheduler_.finish(id, now_, now_ - done.began);
    ++run_.stages;
    run_.bars.push_back({static_cast<JobIndex>(stage.job), stage.kind, stage.pool,
                         std::move(done.slots), done.began, now_});
    for (const std::size_t next : effects_[done.stage]) {
      ready_.push({now_ + causes_[next].delay, next});
    }
    run_.makespan = now_;
    if (--left_[stage.job] > 0) return;
    run_.jobs[stage.job].completed_at = now_ - recorded_.jobs[stage.job].submitted_at;
    scheduler_.set_active(done.start.job, false);
  }

  const RecordedRun& recorded_;
  std::vector<Cause> causes_;
  std::vector<std::vector<std::size_t>> effects_;  // the stages that each makes ready
  Scheduler scheduler_;
  double now_ = 0;
  std::vector<SharedPool> shared_;
  std::priority_queue<Moment, std::vector<Moment>, std::greater<>> ready_;
  std::map<std::string, std::uint32_t> users_;
  std::vector<JobIndex> indices_;
  std::vector<int> left_;  // stages, by job
  std::unordered_map<StageId, std::size_t> places_;
  std::unordered_map<StageId, Running> running_;
  SimulatedRun run_;
};

// One job with everything for itself.
RecordedRun alone(const RecordedRun& run, std::size_t job) {
  RecordedRun own{.pools = run.pools, .jobs = {run.jobs[job]}};
  for (RecordedStage stage : run.stages) {
    if (stage.job != job) continue;
    stage.job = 0;
    own.stages.push_back(stage);
  }
  return submitted_at_once(std::move(own));
}

// When each job ends at the earliest, were it never to wait.
std::vector<double> earliest_ends(const RecordedRun& run) {
  const std::vector<Cause> causes = causes_of(run);
  std::vector<std::size_t> order(run.stages.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  // A cause has ended before what it makes ready begins.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return run.stages[a].ended_at < run.stages[b].ended_at;
  });
  std::vector<double> end(run.stages.size(), 0.0), ends(run.jobs.size(), 0.0);
  for (const std::size_t i : order) {
    const RecordedStage& stage = run.stages[i];
    const double from = causes[i].stage ? end[*causes[i].stage] : run.jobs[stage.job].submitted_at;
    end[i] = from + causes[i].delay + stage.seconds();
    ends[stage.job] = std::max(ends[stage.job], end[i]);
  }
  return ends;
}

// What does not depend on the policy: bounds, times alone, shares.
void add_references(const RecordedRun& run, SimulatedRun& into) {
  const std::vector<double> work = work_of(run);
  into.lower_bound = 0;
  for (const double end : earliest_ends(run)) into.lower_bound = std::max(into.lower_bound, end);
  into.utilisation.assign(run.pools.size(), 0.0);
  for (std::size_t i = 0; i < run.pools.size(); ++i) {
    into.lower_bound = std::max(into.lower_bound, work[i] / run.pools[i].capacity);
    into.utilisation[i] = work[i] / (run.pools[i].capacity * std::max(into.makespan, 1e-9));
  }
  std::vector<Stay> stays;
  for (std::size_t job = 0; job < run.jobs.size(); ++job) {
    const double from = run.jobs[job].submitted_at;
    stays.push_back({from, from + into.jobs[job].completed_at});
  }
  const std::vector<std::size_t> present = jobs_present(stays);
  const Policy& any = **find_policy("fair");
  for (std::size_t job = 0; job < run.jobs.size(); ++job) {
    JobResult& result = into.jobs[job];
    const RecordedRun own = alone(run, job);
    result.alone_seconds = Replay(own, any).run().makespan;
    result.fair_share_seconds = result.alone_seconds;
    const std::vector<double> part = work_of(run, job);
    for (std::size_t i = 0; i < part.size(); ++i) {
      result.fair_share_seconds =
          std::max(result.fair_share_seconds,
                   part[i] * static_cast<double>(present[job]) / run.pools[i].capacity);
    }
  }
}

}  // namespace

RecordedRun submitted_at_once(RecordedRun run) {
  std::vector<double> early;
  for (RecordedJob& job : run.jobs) early.push_back(std::exchange(job.submitted_at, 0.0));
  for (RecordedStage& stage : run.stages) {
    for (double* time : {&stage.ready_at, &stage.started_at, &stage.ended_at}) {
      *time -= early[stage.job];
    }
  }
  return run;
}

SimulatedRun as_it_ran(const RecordedRun& run) {
  SimulatedRun real;
  real.jobs.resize(run.jobs.size());
  for (const RecordedStage& stage : run.stages) {
    real.makespan = std::max(real.makespan, stage.ended_at);
    JobResult& job = real.jobs[stage.job];
    job.completed_at =
        std::max(job.completed_at, stage.ended_at - run.jobs[stage.job].submitted_at);
    real.bars.push_back({static_cast<JobIndex>(stage.job), stage.kind, stage.pool, stage.slots,
                         stage.started_at, stage.ended_at});
  }
  real.stages = static_cast<std::int64_t>(run.stages.size());
  add_references(run, real);
  return real;
}

SimulatedRun replay(const RecordedRun& run, const Policy& policy) {
  SimulatedRun replayed = Replay(run, policy).run();
  add_references(run, replayed);
  return replayed;
}

std::string gantt_svg(const RecordedRun& recorded, const SimulatedRun& run,
                      const std::string& title) {
  Experiment names{.pools = recorded.pools, .jobs = {}};
  for (const RecordedJob& job : recorded.jobs) {
    MockJob named{.name = job.name};
    for (const std::string& kind : job.kinds) named.stages.push_back({.name = kind});
    names.jobs.push_back(std::move(named));
  }
  return gantt_svg(names, run, title);
}

}  // namespace attune::jobs

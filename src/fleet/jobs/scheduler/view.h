// What a policy sees when it decides: pools with what is free of them, jobs with what they had and
// what is predicted to be left, stages that are ready. Times are seconds on the scheduler's clock.
// Stages have no names here: another tuner's stages are scheduled by the same rules.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace attune::jobs {

using JobIndex = std::uint32_t;
using StageId = std::uint64_t;
inline constexpr JobIndex kNoJob = std::numeric_limits<JobIndex>::max();

struct PoolView {
  int capacity = 1;
  int free = 1;
  // The jobs that its free units were given to last; of all units while none is free.
  std::vector<JobIndex> holders = {};
  double work_left = 0;  // units × seconds that active jobs will need, predicted
};

struct UserView {
  int running = 0;  // units of all pools in use
  int quota = 0;    // of them at once; 0: no limit
  int jobs = 0;     // that are active
};

struct JobView {
  std::uint32_t user = 0;
  double priority = 1;  // a weight: twice as important, twice the share
  double submitted_at = 0;
  double attained_seconds = 0;   // of all its stages that finished
  double remaining_seconds = 0;  // predicted, with nothing else running; negative: not known
  // Units × seconds of its stages to come, by pool, predicted; empty: not known.
  std::vector<double> work_left = {};
  bool active = true;  // neither finished nor paused
};

struct StageView {
  StageId id = 0;
  JobIndex job = 0;
  std::uint32_t kind = 0;  // stages of one kind resemble each other
  std::uint32_t pool = 0;
  int amount = 1;  // units of the pool
  double predicted_seconds = 0;
  double ready_at = 0;
  // It became ready because a stage of the same job on the same pool just finished.
  bool continues = false;
  std::uint32_t group = 0;  // stages of one group disturb others alike
};

// Which groups of stages may not run at the same time, as found by measuring.
class CoLocation {
 public:
  void forbid(std::uint32_t a, std::uint32_t b);
  bool allowed(std::uint32_t a, std::uint32_t b) const;
  bool empty() const { return forbidden_.empty(); }

 private:
  std::set<std::pair<std::uint32_t, std::uint32_t>> forbidden_;  // the smaller first
};

struct View {
  double now = 0;
  std::span<const PoolView> pools;
  std::span<const JobView> jobs;
  std::span<const UserView> users;
  std::span<const StageView> ready;
  std::span<const StageView> running;
  JobIndex oldest_job = kNoJob;  // active, submitted first
  std::uint32_t busiest = 0;     // the pool whose units have most to do
  const CoLocation* rules = nullptr;
};

}  // namespace attune::jobs

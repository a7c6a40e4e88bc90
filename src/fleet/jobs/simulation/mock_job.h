// A job that exists on paper: batches of stages with times drawn beforehand, or recorded from a
// real run, and what comes once before and after them. It offers the next stages as the earlier
// ones finish, as a tuning session does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"

namespace attune::jobs {

// One kind of stage.
struct StageModel {
  std::string name = {};
  std::uint32_t pool = 0;
  int amount = 1;
  double mean_seconds = 1;
  std::vector<double> recorded_seconds = {};  // by batch; empty: drawn
};

struct MockJob {
  std::string name = {};
  std::string user = {};
  double priority = 1;
  double submit_at = 0;
  int batches = 1;
  int prefetch = 1;
  std::vector<StageModel> stages = {};   // of every batch, in this order
  std::vector<StageModel> opening = {};  // once, in this order, before the first batch
  std::vector<StageModel> closing = {};  // once, in this order, after the last batch

  // All kinds of stages by number: those of batches first, then those that come once.
  std::size_t kinds() const { return stages.size() + opening.size() + closing.size(); }
  const StageModel& kind(std::size_t number) const;
  int count(std::size_t kind) const { return kind < stages.size() ? batches : 1; }
  std::int64_t stage_count() const {
    return static_cast<std::int64_t>(stages.size()) * batches +
           static_cast<std::int64_t>(opening.size() + closing.size());
  }
};

// Times of one job: those of all batches one after the other, then of what comes once.
struct DrawnJob {
  MockJob job;
  std::vector<double> seconds;

  double at(int batch, std::size_t kind) const {
    const auto whole = static_cast<std::size_t>(kind < job.stages.size() ? batch : job.batches - 1);
    return seconds[whole * job.stages.size() + kind];
  }
};

// mean × e^N(0, heterogeneity), drawn once for the job, × e^N(0, noise), drawn for each stage.
DrawnJob draw_times(const MockJob& job, double heterogeneity, double noise, Rng& rng);

// How long the job takes with as much of every pool as it can use.
double critical_path(const DrawnJob& job);

// Which stages of a job are done and which may be offered.
class MockProgress {
 public:
  explicit MockProgress(const MockJob& job);

  // Stages that became ready; each is named once.
  struct Place {
    int batch = 0;
    std::size_t kind = 0;
  };
  std::vector<Place> newly_ready();
  void finish(const Place& place);
  bool finished() const;

 private:
  bool may_start(std::size_t kind) const;
  int count(std::size_t kind) const { return kind < stages_ ? batches_ : 1; }
  bool all_done(std::size_t kind) const { return done_[kind] == count(kind); }

  int batches_, prefetch_;
  std::size_t stages_, opening_;     // how many kinds are of batches, and before them
  std::vector<int> offered_, done_;  // by kind
};

}  // namespace attune::jobs

// A job that exists on paper: batches of stages with times drawn beforehand, or recorded from a
// real run. It offers the next stages as the earlier ones finish, as a tuning session does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"

namespace attune::jobs {

// One kind of stage: in every batch one, in this order.
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
  std::vector<StageModel> stages = {};
};

// Times of one job: seconds[batch * stages + stage].
struct DrawnJob {
  MockJob job;
  std::vector<double> seconds;

  double at(int batch, std::size_t stage) const {
    return seconds[static_cast<std::size_t>(batch) * job.stages.size() + stage];
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

  // Stages that became ready, as (batch, stage); each is named once.
  struct Place {
    int batch = 0;
    std::size_t stage = 0;
  };
  std::vector<Place> newly_ready();
  void finish(const Place& place);
  bool finished() const;

 private:
  bool may_start(std::size_t stage) const;

  int batches_, prefetch_;
  std::vector<int> offered_, done_;  // batches, by stage
};

}  // namespace attune::jobs

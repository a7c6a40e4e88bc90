// Simulated annealing on the predicted time (as in AutoTVM, Chen et al. 2018): parallel chains that
// go on from round to round walk the space, and the most promising points they saw, chosen so that
// many different choices are tried, make the batch. The prediction is the analytic one, corrected
// by what was measured so far; a small space is not walked but scored whole.
#pragma once

#include "tuner/explore/ledger.h"
#include "tuner/model/correction.h"

namespace attune::explore {

struct AnnealingOptions {
  std::size_t chains = 32;
  int steps = 60;                    // per chain and round
  int first_steps = 200;             // in the first round
  std::uint64_t score_whole = 8192;  // spaces up to this size are scored point by point
  double hot = 0.3, cold = 0.01;     // temperatures, in log time
  double random_share = 0.05;        // of a batch, drawn at random
  double new_choice = 0.02;          // gain in log time that a choice not yet in the batch is worth
  double optimism = 0.7;             // standard deviations taken off the prediction
};

class AnnealingExplorer : public Explorer {
 public:
  AnnealingExplorer(const space::Space& space, const model::CostModel& model,
                    AnnealingOptions options = {});

  std::vector<Proposal> select(std::size_t batch, const Hashes& known, Rng& rng) override;
  void update(std::span<const Finding> findings) override;
  bool exhausted() const override { return exhausted_; }
  space::RejectionCounts rejections() const override { return ledger_.rejections(); }
  std::string save() const override;
  Status load(std::string_view saved) override;

 private:
  struct Scored {
    space::Point point;
    double score;  // log of the corrected time; less is better
  };
  std::optional<double> score(const space::Point& point);
  std::vector<Scored> candidates(Rng& rng);
  void score_all(std::vector<Scored>& pool);
  void walk(std::vector<Scored>& pool, Rng& rng);
  void add_neighbours_of_best(std::vector<Scored>& pool);
  void learn();

  AnnealingOptions options_;
  Ledger ledger_;
  model::Correction correction_;
  std::vector<space::Point> chains_;
  bool exhausted_ = false;
};

}  // namespace attune::explore

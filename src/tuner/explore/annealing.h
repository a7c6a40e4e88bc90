// Simulated annealing on the predicted time (as in AutoTVM, Chen et al. 2018): parallel chains that
// go on from round to round walk the space, and the most promising points they saw, chosen so that
// many different choices are tried, make the batch. The prediction is the learner's; a small space
// is not walked but scored whole.
#pragma once

#include "tuner/explore/ledger.h"

namespace attune::explore {

class AnnealingExplorer : public Explorer {
 public:
  AnnealingExplorer(const SearchOptions& options, const Surroundings& surroundings,
                    std::unique_ptr<model::Learner> learner);

  std::vector<Proposal> select(std::size_t batch, const Hashes& known, Rng& rng) override;
  void update(std::span<const Finding> findings) override;
  bool exhausted() const override { return exhausted_; }
  space::RejectionCounts rejections() const override { return ledger_.rejections(); }
  std::string save() const override;
  Status load(std::string_view saved) override;

 private:
  struct Scored {
    space::Point point;
    double score;  // the learner's; less is better
  };
  std::optional<double> score(const space::Point& point);
  std::vector<Scored> candidates(Rng& rng);
  void score_all(std::vector<Scored>& pool);
  void walk(std::vector<Scored>& pool, Rng& rng);
  void add_neighbours_of_best(std::vector<Scored>& pool);
  void learn();

  SearchOptions options_;
  Ledger ledger_;
  std::unique_ptr<model::Learner> learner_;
  std::vector<space::Point> chains_;
  bool exhausted_ = false;
};

}  // namespace attune::explore

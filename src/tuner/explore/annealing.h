// Simulated annealing on the predicted time (as in AutoTVM, Chen et al. 2018): parallel chains that
// go on from round to round walk the space, all a step at a time, and the most promising points
// they saw, chosen so that many different choices are tried, make the batch. The prediction is the
// learner's. A small space is not walked but scored whole, a part more with every round.
#pragma once

#include "tuner/explore/ledger_explorer.h"
#include "tuner/explore/scorer.h"

namespace attune::explore {

class AnnealingExplorer final : public LedgerExplorer {
 public:
  AnnealingExplorer(const SearchOptions& options, const SearchContext& context,
                    std::unique_ptr<cost_model::Learner> learner);

  std::vector<space::Candidate> select(std::size_t batch, const Hashes& known, Rng& rng) override;
  void update(std::span<const space::Candidate> tried) override;

 private:
  void save_own(nlohmann::json& document) const override;
  Status load_own(const nlohmann::json& document) override;
  void restored() override { learner_->fit(ledger_.tried()); }

  struct Prospects {
    std::vector<Scored> best;           // best first
    double deviation = 1;               // of scores all over the space
    std::vector<space::Point> leaders;  // of alternatives that were hardly tried
  };
  struct Chain {
    space::Point point;
    std::optional<double> score;  // nothing: rejected
  };

  Prospects candidates(std::size_t batch, Rng& rng);
  std::vector<space::Point> leaders_to_try(const Pool& pool, std::size_t batch) const;
  // Both give back the deviation of scores.
  double scan(Scorer& scorer, Pool& pool);
  double walk(Scorer& scorer, Pool& pool, Rng& rng);
  std::vector<Chain> begin_chains(Scorer& scorer, Pool& pool, Rng& rng);
  // Whether a step came upon anything promising.
  bool step_chains(std::vector<Chain>& chains, double temperature, Scorer& scorer, Pool& pool,
                   Rng& rng);
  void add_neighbours_of_best(Scorer& scorer, Pool& pool, Rng& rng);
  double effort_us(const space::Point& point) const;
  int steps(bool first) const;

  std::unique_ptr<cost_model::Learner> learner_;
  std::vector<space::Point> chains_;
  std::uint64_t scanned_ = 0;  // points of a space that is scored whole
};

}  // namespace attune::explore

// Genetic search on measured times alone (as in AutoTVM, Chen et al. 2018): a generation descends
// from the one before and the best ever found, by crossing the choices of two parents of the same
// alternative and changing a few at random. Faster parents have more children.
#pragma once

#include <deque>

#include "tuner/explore/ledger_explorer.h"

namespace attune::explore {

class GeneticExplorer final : public LedgerExplorer {
 public:
  using LedgerExplorer::LedgerExplorer;

  std::vector<space::Candidate> select(std::size_t batch, const Hashes& known, Rng& rng) override;

 private:
  void save_own(nlohmann::json& document) const override;
  Status load_own(const nlohmann::json& document) override;
  struct Parent {
    const space::Point* point;
    double fitness;  // speed, relative to the best; 0 for what failed
  };
  std::vector<Parent> parents() const;
  const Parent& choose(const std::vector<Parent>& parents, Rng& rng,
                       std::optional<std::uint32_t> alternative) const;
  space::Point child_of(const std::vector<Parent>& parents, Rng& rng) const;
  void change_one(space::Point& point, Rng& rng) const;
  void breed(Rng& rng);

  std::deque<space::Point> unborn_;  // of the current generation
};

}  // namespace attune::explore

// Genetic search on measured times alone (as in AutoTVM, Chen et al. 2018): a generation descends
// from the one before and the best ever found, by crossing the choices of two parents of the same
// alternative and changing a few at random. Faster parents have more children.
#pragma once

#include <deque>

#include "tuner/explore/ledger.h"

namespace attune::explore {

class GeneticExplorer : public Explorer {
 public:
  GeneticExplorer(const SearchOptions& options, const Surroundings& surroundings)
      : options_(options), ledger_(surroundings, options.reject_hopeless) {}

  std::vector<Proposal> select(std::size_t batch, const Hashes& known, Rng& rng) override;
  void update(std::span<const Finding> findings) override { ledger_.record(findings); }
  bool exhausted() const override { return exhausted_; }
  space::RejectionCounts rejections() const override { return ledger_.rejections(); }
  std::string save() const override;
  Status load(std::string_view saved) override;

 private:
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

  SearchOptions options_;
  Ledger ledger_;
  std::deque<space::Point> unborn_;  // of the current generation
  bool exhausted_ = false;
};

}  // namespace attune::explore

// Random search: what any other search must beat.
#pragma once

#include "tuner/explore/ledger.h"

namespace attune::explore {

class RandomExplorer : public Explorer {
 public:
  RandomExplorer(const SearchOptions& options, const Surroundings& surroundings)
      : ledger_(surroundings, options.reject_hopeless) {}

  std::vector<Proposal> select(std::size_t batch, const Hashes& known, Rng& rng) override;
  void update(std::span<const Finding> findings) override { ledger_.record(findings); }
  bool exhausted() const override { return exhausted_; }
  space::RejectionCounts rejections() const override { return ledger_.rejections(); }
  std::string save() const override;
  Status load(std::string_view saved) override;

 private:
  Ledger ledger_;
  bool exhausted_ = false;
};

// Fills `batch` up to `wanted` with random points: first by drawing, then, when drawing finds
// nothing new any more in a space that is small enough, by going through all of it. Whether it
// could be filled.
bool add_random(std::vector<Proposal>& batch, std::size_t wanted, Ledger& ledger,
                const Hashes& known, Rng& rng);

}  // namespace attune::explore

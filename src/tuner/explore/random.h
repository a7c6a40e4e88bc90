// Random search: what any other search must beat.
#pragma once

#include "tuner/explore/ledger_explorer.h"

namespace attune::explore {

class RandomExplorer final : public LedgerExplorer {
 public:
  using LedgerExplorer::LedgerExplorer;

  std::vector<space::Candidate> select(std::size_t batch, const Hashes& known, Rng& rng) override;
};

// Fills `batch` up to `wanted` with random points: first by drawing, then, when drawing finds
// nothing new any more in a space that is small enough, by going through all of it. Whether it
// could be filled.
bool add_random(std::vector<space::Candidate>& batch, std::size_t wanted, Ledger& ledger,
                const Hashes& known, Rng& rng);

}  // namespace attune::explore

// Grid search: the points of the space one after the other, in the order of their indices.
#pragma once

#include "tuner/explore/ledger_explorer.h"

namespace attune::explore {

class GridExplorer final : public LedgerExplorer {
 public:
  using LedgerExplorer::LedgerExplorer;

  std::vector<space::Candidate> select(std::size_t batch, const Hashes& known, Rng& rng) override;

 private:
  void save_own(nlohmann::json& document) const override;
  Status load_own(const nlohmann::json& document) override;
  std::uint64_t next_ = 0;  // index of a point
};

}  // namespace attune::explore

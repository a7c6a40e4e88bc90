#include "tuner/explore/grid.h"

#include <nlohmann/json.hpp>

#include "tuner/explore/explorer_def.h"

namespace attune::explore {

std::vector<space::Candidate> GridExplorer::select(std::size_t batch, const Hashes& known, Rng&) {
  std::vector<space::Candidate> proposals;
  const space::Space& space = ledger_.space();
  for (; proposals.size() < batch && next_ < space.size(); ++next_) {
    if (auto proposal = ledger_.propose(space.point_at(next_), known)) {
      proposals.push_back(std::move(*proposal));
    }
  }
  exhausted_ = proposals.size() < batch;
  return proposals;
}

void GridExplorer::save_own(nlohmann::json& document) const { document["next"] = next_; }

Status GridExplorer::load_own(const nlohmann::json& document) {
  ATTUNE_ASSIGN(next_, load_position(ledger_.space(), document, "next"));
  return {};
}

ExplorerDef grid_explorer() { return {"grid", make<GridExplorer>}; }

}  // namespace attune::explore

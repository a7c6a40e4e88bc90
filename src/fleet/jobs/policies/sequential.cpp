#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {

std::optional<Rank> rank_sequential(const View& view, const StageView& stage) {
  if (stage.job != view.oldest_job) return std::nullopt;
  return by_arrival(stage);
}

}  // namespace attune::jobs

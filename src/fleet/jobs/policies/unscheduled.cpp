#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {

std::optional<Rank> rank_unscheduled(const View&, const StageView& stage) {
  return by_arrival(stage);
}

}  // namespace attune::jobs

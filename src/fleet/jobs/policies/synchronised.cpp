#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {

// A job that is not running has a stage ready; when nothing runs, all of them have.
std::optional<Rank> rank_synchronised(const View& view, const StageView& stage) {
  if (!view.running.empty()) return std::nullopt;
  return by_arrival(stage);
}

}  // namespace attune::jobs

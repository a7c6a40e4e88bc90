#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {
namespace {

std::optional<Rank> rank(const View&, const StageView& stage) { return by_arrival(stage); }

}  // namespace

Policy unscheduled_policy() {
  return {.name = "unscheduled",
          .summary = "no coordination, stages slow each other down",
          .rank = rank,
          .coordinated = false};
}

}  // namespace attune::jobs

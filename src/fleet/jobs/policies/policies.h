// All policies, one file each, and the ranks that several of them share.
#pragma once

#include "fleet/jobs/scheduler/policy.h"

namespace attune::jobs {

#define ATTUNE_POLICY(name) Policy name##_policy();
#include "fleet/jobs/policies/list.inc"

// First come, first served.
Rank by_arrival(const StageView& stage);
std::optional<Rank> rank_greedy(const View& view, const StageView& stage);
std::optional<Rank> rank_fair(const View& view, const StageView& stage);

}  // namespace attune::jobs

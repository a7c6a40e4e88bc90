// All policies, one file each, and the ranks that several of them share.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/jobs/scheduler/policy.h"

namespace attune::jobs {

// One line per policy, in the order in which they are shown.
std::span<const Policy> policies();
Result<const Policy*> find_policy(std::string_view name);
// Those named, in this order; "all" stands for all of them.
Result<std::vector<const Policy*>> find_policies(std::span<const std::string> names);

#define ATTUNE_POLICY(name) Policy name##_policy();
#include "fleet/jobs/policies/list.inc"

// First come, first served.
Rank by_arrival(const StageView& stage);
std::optional<Rank> rank_greedy(const View& view, const StageView& stage);
std::optional<Rank> rank_fair(const View& view, const StageView& stage);

}  // namespace attune::jobs

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {

std::span<const Policy> policies() {
  static constexpr Policy kAll[] = {
      kSequential,    kUnscheduled, kSynchronised, kGreedy,  kFair,
      kGreedyBundled, kFairBundled, kMakespan,     kLatency, kFairShare,
  };
  return kAll;
}

Result<const Policy*> find_policy(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Policy& policy : policies()) {
    if (policy.name == name) return &policy;
    names.push_back(policy.name);
  }
  return invalid(fmt::format("unknown policy '{}'", name),
                 fmt::format("policies are {}", fmt::join(names, ", ")));
}

}  // namespace attune::jobs

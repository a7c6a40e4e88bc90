#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {

Rank queue_by_priority(const View&, const JobView& job) {
  return {-job.priority, job.submitted_at, 0};
}

std::span<const Policy> policies() {
  static const Policy all[] = {
#define ATTUNE_POLICY(name) name##_policy(),
#include "fleet/jobs/policies/list.inc"
  };
  return all;
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

Result<std::vector<const Policy*>> find_policies(std::span<const std::string> names) {
  std::vector<const Policy*> found;
  for (const std::string& name : names) {
    if (name == "all") {
      for (const Policy& policy : policies()) found.push_back(&policy);
      continue;
    }
    ATTUNE_ASSIGN(const Policy* policy, find_policy(name));
    found.push_back(policy);
  }
  return found;
}

}  // namespace attune::jobs

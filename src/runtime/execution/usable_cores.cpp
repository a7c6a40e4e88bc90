#include "runtime/execution/usable_cores.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "base/cage/control_group_place.h"
#include "runtime/execution/affinity.h"
#include "runtime/execution/own_cores.h"

namespace attune::runtime {
namespace {

// Of one group. Version 2 has "TIME PERIOD" in microseconds, version 1 a file for each; "max" and
// -1 are no limit.
std::optional<double> quota_of(CgroupVersion version, const std::string& folder) {
  std::string time, period;
  if (version == CgroupVersion::V2) {
    std::ifstream(folder + "/cpu.max") >> time >> period;
  } else {
    std::ifstream(folder + "/cpu.cfs_quota_us") >> time;
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  }
  const long long time_us = std::atoll(time.c_str()), period_us = std::atoll(period.c_str());
  if (time_us <= 0 || period_us <= 0) return std::nullopt;
  return static_cast<double>(time_us) / static_cast<double>(period_us);
}

}  // namespace

std::optional<double> cpu_quota(const std::string& root) {
  const auto group = find_control_group("cpu", root);  // fixed word: the kernel's
  if (!group.ok()) return std::nullopt;
  std::optional<double> least;
  // All groups around it limit it as well.
  for (std::string folder = group->folder; !folder.empty();) {
    const auto quota = quota_of(group->version, folder);
    if (quota && (!least || *quota < *least)) least = quota;
    const std::size_t end = folder.rfind('/');
    folder.resize(end == folder.npos ? 0 : end);
  }
  return least;
}

std::vector<int> cores_within(std::vector<int> cores, std::optional<double> quota) {
  const auto all = static_cast<double>(cores.size());
  const double most = std::clamp(std::ceil(quota.value_or(all)), 1.0, all);
  cores.resize(static_cast<std::size_t>(most));
  return cores;
}

std::vector<int> usable_cores() { return cores_within(own_cores(allowed_cores()), cpu_quota()); }

std::vector<int> usable_cores(int threads) {
  std::vector<int> cores = own_cores_first(allowed_cores());
  const std::size_t usable = usable_cores().size();
  const auto asked = static_cast<std::size_t>(std::max(threads, 1));
  cores.resize(std::max(usable, std::min(asked, cores.size())));
  std::sort(cores.begin(), cores.end());
  return cores;
}

}  // namespace attune::runtime

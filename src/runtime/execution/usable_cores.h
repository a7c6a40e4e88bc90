// How many threads a process should start where nobody says: one for each core that it may use and
// that is a core of its own (own_cores.h), or fewer where its control group has time for fewer, as
// in a container with a limit. More threads than that stand still together for most of every
// period.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace attune::runtime {

// Cores' worth of time that the control group of this process and those around it allow (cgroup
// version 2, cpu.max, or version 1, cpu.cfs_quota_us); nothing: any. `root` stands before all
// paths: another one in tests.
std::optional<double> cpu_quota(const std::string& root = {});

// The first of these that such a quota has time for, at least one.
std::vector<int> cores_within(std::vector<int> cores, std::optional<double> quota);

// Those of allowed_cores() that threads are for where nobody says how many; ascending, never empty.
std::vector<int> usable_cores();

// Those for so many threads: the usable ones, or more where more are asked for and allowed;
// ascending.
std::vector<int> usable_cores(int threads);

}  // namespace attune::runtime

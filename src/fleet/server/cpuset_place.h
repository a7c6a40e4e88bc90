// Where the control group (cgroup) of a process lies that says which cores it may use: of version
// 1, where the cpuset controller has a hierarchy of its own, or of version 2, where all share one.
// Read from what the kernel tells about mounts and groups.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace attune::server {

enum class CgroupVersion { V1, V2 };

struct CpusetPlace {
  CgroupVersion version = CgroupVersion::V1;
  std::string folder;  // of the group that the process is in

  friend bool operator==(const CpusetPlace&, const CpusetPlace&) = default;
};

// From the texts of /proc/self/mountinfo and /proc/self/cgroup; or why there is none.
Result<CpusetPlace> find_cpuset(std::string_view mountinfo, std::string_view cgroups);

// Of the calling process.
Result<CpusetPlace> find_cpuset();

}  // namespace attune::server

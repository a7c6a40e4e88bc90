// Where the control group (cgroup) of a process lies that limits one thing, such as the cores it
// may use: of version 1, where that thing's controller has a hierarchy of its own, or of version 2,
// where all share one. Read from what the kernel tells about mounts and groups.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace attune {

enum class CgroupVersion { V1, V2 };

struct GroupPlace {
  CgroupVersion version = CgroupVersion::V1;
  std::string folder;  // of the group that the process is in

  friend bool operator==(const GroupPlace&, const GroupPlace&) = default;
};

// Of the group with this controller ("cpuset"), from the texts of /proc/self/mountinfo and
// /proc/self/cgroup; or why there is none.
Result<GroupPlace> find_control_group(std::string_view controller, std::string_view mountinfo,
                                      std::string_view cgroups);

// Of the calling process. `root` stands before all paths: another one in tests.
Result<GroupPlace> find_control_group(std::string_view controller, const std::string& root = {});

}  // namespace attune

// A control group (cgroup, version 2) around processes that run foreign code: limits that hold for
// all of them together, for memory of every kind and whatever rights they have, and an end for all
// of them at once. It is made beside the group of the process that asks, where the system lets that
// user; elsewhere there is none, and the limits of single processes (base/cage/cage.h) are what is
// left.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/cage/control_group_place.h"
#include "base/result.h"

namespace attune {

class ControlGroup {
 public:
  struct Limits {
    std::int64_t memory_bytes = -1;  // negative: any
    std::int64_t processes = -1;     // and threads, all together
  };

  // Beside the group at this place, empty; or why there can be none.
  static Result<std::unique_ptr<ControlGroup>> make(const GroupPlace& place);
  // Beside that of the calling process.
  static Result<std::unique_ptr<ControlGroup>> make();
  // Ends what is in it, and removes it. Forks of the process that made it do nothing.
  ~ControlGroup();
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;

  const std::string& folder() const { return folder_; }
  Status limit(const Limits& limits) const;
  // Brings the calling process in, for good.
  Status enter() const;
  // How many processes in it the kernel has ended for want of memory.
  std::int64_t ended_for_memory() const;

 private:
  explicit ControlGroup(std::string folder);
  const std::string folder_;
  const pid_t maker_;
};

// The files of a group. The kernel takes a value in one piece; without the rights it says so.
Status write_group_value(const std::string& path, std::string_view value);
// Without the line's end; empty when it cannot be read.
std::string read_group_value(const std::string& path);
// In a list with blanks between.
bool has_group_word(std::string_view list, std::string_view word);

}  // namespace attune

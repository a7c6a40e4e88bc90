// Control groups that keep measurements to themselves: one with the cores of the host, one for each
// device with its own. A thread that enters a group cannot leave its cores any more, and neither
// can what it starts, whatever affinity they ask for. With version 2 a device's cores are taken
// from all others while it measures, where the kernel agrees. The scheduler makes the groups in the
// one it was started in; its workers find them around themselves.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/cage/control_group_place.h"
#include "base/result.h"

namespace attune::server {

struct CoreGroup {
  std::string folder;
  std::vector<int> cores;  // ascending
  bool is_device = false;
};

class CoreGroups {
 public:
  // Those of the scheduler that started the process in its host group at `place`; null: none.
  static std::unique_ptr<CoreGroups> around(const GroupPlace& place);

  // Brings the calling thread to the group that has all these cores, or to the one in which all
  // groups lie when they are of several. The thread may run on any core of the group then.
  void enter(std::span<const int> cores) const;
  // After measuring on these cores: others may have them again.
  void leave(std::span<const int> cores) const;

  std::vector<int> host_cores() const;
  std::vector<int> all_cores() const;

 private:
  friend class OwnCoreGroups;
  CoreGroups(CgroupVersion version, std::string outside);
  const CoreGroup* group_of(std::span<const int> cores) const;
  std::string threads_file(const std::string& folder) const;
  bool isolate(const CoreGroup& group) const;
  void release(const CoreGroup& group) const;

  CgroupVersion version_;
  std::string outside_;  // the folder in which all groups lie
  std::vector<CoreGroup> groups_;
  mutable std::atomic<bool> may_isolate_;  // until it was refused
};

// The scheduler's side: makes the groups. They are removed by a process of their own, the keeper,
// that waits for this one to end, so that cores are given back even when it is killed.
class OwnCoreGroups {
 public:
  // Brings the process to the host's group. `name` sets them apart from those of others.
  static Result<std::unique_ptr<OwnCoreGroups>> make(const GroupPlace& place,
                                                     const std::string& name,
                                                     const std::vector<int>& host,
                                                     const std::vector<std::vector<int>>& devices);
  // Brings the process back, and returns when the groups are removed.
  ~OwnCoreGroups();
  OwnCoreGroups(const OwnCoreGroups&) = delete;
  OwnCoreGroups& operator=(const OwnCoreGroups&) = delete;

  // Whether others are kept off a device's cores while it measures.
  bool isolates() const { return groups_.may_isolate_; }
  // Gives to others what a worker that was killed had isolated.
  void release_all() const;
  // See below.
  void remove_leftovers() const;

 private:
  OwnCoreGroups(const GroupPlace& place, std::string name);
  Status allow_groups();
  Status add(const std::string& suffix, std::vector<int> cores, bool is_device);
  Status start_keeper();
  // Waits for what is ending in them.
  void remove_groups() const;

  CoreGroups groups_;
  std::string name_;
  int keeper_ = -1;       // its number
  int lifeline_ = -1;     // that it sees break
  bool moved_ = false;    // this process, to the host's group
  bool enabled_ = false;  // the controller, by us
};

// Of the process that calls, for a state directory.
std::string core_groups_name(const std::string& state);

// Removes what schedulers that were killed left at `place`, when nothing runs there any more.
void remove_leftover_groups(const GroupPlace& place);

}  // namespace attune::server

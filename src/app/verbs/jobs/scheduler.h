// The scheduler of many jobs as a daemon: serves until it is told to end by a signal.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/jobs/book/retention.h"
#include "fleet/jobs/book/stage_limits.h"
#include "fleet/jobs/simulation/colocation_file.h"

namespace attune::verbs {

// What jobs share: cores of the host, one unit each, and the cores that are measured on, together
// one device.
struct CorePlan {
  std::vector<int> host, profile;

  friend bool operator==(const CorePlan&, const CorePlan&) = default;
};

// Of the cores that the process may use the last is for measuring, unless something else is asked
// for; what is not named gets the rest. With one core in all both have it, in turn.
Result<CorePlan> plan_cores(const std::vector<int>& allowed, const std::vector<int>& host,
                            const std::vector<int>& profile);

// How many devices the measuring cores make, when so many are asked for of each kind, and those of
// other kinds.
Result<int> take_cpu_devices(const CorePlan& plan, std::map<std::string, int>& devices);

// All kinds of stages of tuning, and what each is taken for in a calibration.
std::vector<jobs::KindLike> kinds_of_stages();

struct ServeOptions {
  std::string state = {};  // folder; empty: the default one
  std::string policy = "makespan";
  int workers = 4;
  int prefetch = 2;
  bool in_turn = false;  // no two stages of a job at once
  std::vector<int> host_cores = {}, profile_cores = {};
  // Of further kinds, that workers elsewhere bring; of wire::kMeasuringCores: so many instead of
  // one, each of equally many of them.
  std::map<std::string, int> devices = {};
  // Of users: whoever has more units of all resources at once waits for others. For policies that
  // have quotas.
  std::map<std::string, int> quotas = {};
  // A group of users with whom it is shared; empty: it is its own user's alone.
  std::string share = {};
  // When stages that fall silent are ended, and jobs that come no further given up.
  jobs::StageLimits limits = {};
  jobs::Retention retention = {};
  // Whether control groups keep stages on their cores, where the system allows it.
  bool use_cpuset = true;
  std::function<void(const std::string&)> note = {};
};

struct Serving {
  std::string state = {};
  std::string shared = {};  // the folder by which those of the group find it; empty: none
  CorePlan cores = {};
  int kept_apart = 0;           // pairs of kinds of stages, from a calibration
  std::string cores_kept = {};  // by what: "cpuset cgroup", or "affinity, because ..."
};

// Returns after SIGINT or SIGTERM, or with the error that ended it.
Status serve_jobs(const ServeOptions& options, const std::function<void(const Serving&)>& on_ready);

}  // namespace attune::verbs

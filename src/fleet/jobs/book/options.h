// What a book is opened with: the pools that it gives out and the rules by which it does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fleet/jobs/book/stage_limits.h"
#include "fleet/jobs/scheduler/policy.h"

namespace attune::jobs {

struct BookPool {
  std::string name;
  std::vector<std::vector<int>> units;  // cores of each; none for devices elsewhere
};

struct BookOptions {
  std::vector<BookPool> pools;  // "host" first
  const Policy* policy = nullptr;
  std::vector<std::pair<std::string, std::string>> apart = {};  // kinds that disturb each other
  std::map<std::string, int> quotas = {};                       // of users
  std::string version = {};
  std::uint32_t uid = 0;  // of the scheduler's user
  int prefetch = 1;       // of jobs that do not say
  bool in_turn = false;   // no two stages of a job at once
  double lease_seconds = 10;
  double beat_seconds = 2;
  StageLimits limits = {};
  double settle_seconds = 0;    // how long a job may think about its next stage before others go
  bool local_workers = false;   // some will come that have all the devices of the pools
  std::string cores_kept = {};  // what keeps stages on their cores, in words
};

}  // namespace attune::jobs

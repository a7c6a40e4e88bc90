// What a job made, from the scheduler to files of whoever submitted it, with their own rights.
#pragma once

#include <cstdint>
#include <string>

#include "app/verbs/jobs/jobs.h"
#include "base/result.h"

namespace attune::verbs {

struct FetchOptions {
  std::string job = {};      // id or name
  std::string output = {};   // the artifact; empty: as the scheduler names it, here
  std::string records = {};  // the store to which its records are added; empty: the default one
  std::uint64_t most_bytes = std::uint64_t{8} << 30;  // that are taken from the scheduler
};

struct FetchReport {
  std::string output = {};   // the artifact that was written; empty: the job made none
  std::string records = {};  // the store
};

Result<FetchReport> fetch_job(const FetchOptions& options, const SchedulerOptions& scheduler);

}  // namespace attune::verbs

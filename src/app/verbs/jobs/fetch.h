// What a job made, from the scheduler to files of whoever submitted it, with their own rights.
#pragma once

#include <cstdint>
#include <string>

#include "app/verbs/jobs/jobs.h"
#include "base/result.h"

namespace attune::verbs {

struct FetchOptions {
  std::string job = {};      // id or name
  std::string output = {};   // the artifact; empty: as the job was submitted with, here
  std::string records = {};  // the store to which its records are added; empty: the default one
};

struct FetchReport {
  std::string output = {};   // the artifact that was written; empty: the job made none
  std::string records = {};  // the store
};

Result<FetchReport> fetch_job(const FetchOptions& options, const SchedulerOptions& scheduler);

}  // namespace attune::verbs

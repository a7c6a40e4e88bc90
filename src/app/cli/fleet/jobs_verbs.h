// The commands below `jobs` that have files of their own.
#pragma once

#include "app/cli/verbs.h"
#include "app/verbs/jobs/fetch.h"

namespace attune::cli {

Result<int> run_jobs_fetch(Words arguments, Console& console);
Result<int> run_jobs_prune(Words arguments, Console& console);
Result<int> run_jobs_watch(Words arguments, Console& console);

// What was written.
void tell_fetched(const verbs::FetchReport& report, Console& console);

}  // namespace attune::cli

// The commands below `jobs` that have files of their own.
#pragma once

#include "app/cli/verbs.h"

namespace attune::cli {

Result<int> run_jobs_watch(Words arguments, Console& console);

}  // namespace attune::cli

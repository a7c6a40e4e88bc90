// The commands below `scheduler`, besides the scheduler itself.
#pragma once

#include "app/cli/verbs.h"

namespace attune::cli {

Result<int> run_scheduler_calibrate(Words arguments, Console& console);
Result<int> run_scheduler_replay(Words arguments, Console& console);
Result<int> run_scheduler_token(Words arguments, Console& console);

}  // namespace attune::cli

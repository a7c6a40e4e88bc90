// --state: which scheduler a command speaks to.
#pragma once

#include <string>

#include "app/api/jobs.h"
#include "app/cli/command_line.h"
#include "app/cli/console.h"

namespace attune::cli {

class SchedulerArguments {
 public:
  explicit SchedulerArguments(CommandLine& line);
  // Tells the user when no scheduler answers.
  api::SchedulerOptions take(Console& console) const;

 private:
  std::string state_;
};

}  // namespace attune::cli

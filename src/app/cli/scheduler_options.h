// Options about schedulers: --state, which one a command speaks to, and lists of cores.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/command_line.h"
#include "app/cli/console.h"
#include "app/verbs/jobs/jobs.h"

namespace attune::cli {

class SchedulerArguments {
 public:
  explicit SchedulerArguments(CommandLine& line);
  // Tells the user when no scheduler answers.
  verbs::SchedulerOptions take(Console& console) const;

 private:
  std::string state_;
};

// "0,2-3" as the cores it means, in this order; empty for an empty text. `option` is named in the
// message about a wrong one.
Result<std::vector<int>> parse_cores(std::string_view option, const std::string& text);

}  // namespace attune::cli

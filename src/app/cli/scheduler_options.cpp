#include "app/cli/scheduler_options.h"

#include <fmt/format.h>

namespace attune::cli {

SchedulerArguments::SchedulerArguments(CommandLine& line) {
  line.text("--state", "DIR", state_,
            "the scheduler's directory (~/.local/share/attune/scheduler)");
}

api::SchedulerOptions SchedulerArguments::take(Console& console) const {
  api::SchedulerOptions options{.state = state_};
  options.waiting = [&console, seconds = options.patience_seconds](const std::string& state) {
    console.note(
        fmt::format("no scheduler answers in {}; waiting for {:g} seconds", state, seconds));
  };
  return options;
}

}  // namespace attune::cli

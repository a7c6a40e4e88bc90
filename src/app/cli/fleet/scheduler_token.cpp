#include "app/cli/fleet/scheduler_options.h"
#include "app/cli/fleet/scheduler_verbs.h"
#include "app/cli/shared_options.h"
#include "app/verbs/jobs/jobs.h"

namespace attune::cli {

Result<int> run_scheduler_token(Words arguments, Console& console) {
  CommandLine line("scheduler token",
                   "Prints what one other tuner is to say in its hello, within ten minutes: it "
                   "brings jobs in your name, and counts as you do.");
  Speech speech;
  bool worker = false;
  const SchedulerArguments scheduler(line);
  line.flag("--worker", worker, "for a worker, which is given the jobs of all; your own scheduler");
  add_speech_options(line, speech, "");
  line.example("scheduler token", "for a script, which reads it from its input");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(const std::string token, verbs::scheduler_token(worker, scheduler.take(console)));
    ATTUNE_RETURN_IF_ERROR(console.print(token + "\n"));
    return 0;
  });
}

}  // namespace attune::cli

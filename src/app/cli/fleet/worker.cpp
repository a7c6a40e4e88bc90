#include "app/job_worker/worker.h"

#include "app/cli/command_line.h"
#include "app/cli/shared_options.h"
#include "app/cli/verbs.h"

namespace attune::cli {

Result<int> run_worker(Words arguments, Console& console) {
  job_worker::WorkerOptions options;
  Speech speech;
  CommandLine line("worker",
                   "tunes jobs that a scheduler hands out; 'attune scheduler' starts some");
  line.text("--state", "DIR", options.state, "the state directory of the scheduler");
  line.text("--name", "NAME", options.name, "what the scheduler calls it");
  add_speech_options(line, speech, "print errors as JSON");
  line.example("worker --state /srv/attune",
               "one more worker for your scheduler of that directory");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_RETURN_IF_ERROR(job_worker::work(options));
    return 0;
  });
}

}  // namespace attune::cli

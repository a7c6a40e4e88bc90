#include <fmt/format.h>

#include "app/cli/fleet/jobs_verbs.h"
#include "app/cli/fleet/scheduler_options.h"
#include "app/cli/shared_options.h"
#include "app/verbs/jobs/fetch.h"

namespace attune::cli {

void tell_fetched(const verbs::FetchReport& report, Console& console) {
  if (!report.output.empty()) console.note(fmt::format("wrote {}", report.output));
  if (!report.records.empty()) {
    console.note(fmt::format("added its records to {}", report.records));
  }
}

Result<int> run_jobs_fetch(Words arguments, Console& console) {
  CommandLine line("jobs fetch",
                   "Writes what a job of yours made, at a scheduler of another user: the artifact "
                   "here, its records to your store.");
  Speech speech;
  verbs::FetchOptions options;
  line.required("JOB", options.job, "the name or the number of a job");
  line.text("-o,--output", "FILE", options.output, "the artifact (as the job names it, here)");
  line.text("--records", "FILE", options.records, "the store of records (yours)");
  const SchedulerArguments scheduler(line);
  add_speech_options(line, speech, "");
  line.example("jobs fetch resnet18 --state /srv/attune/state", "when it has ended");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(const verbs::FetchReport report,
                  verbs::fetch_job(options, scheduler.take(console)));
    tell_fetched(report, console);
    return 0;
  });
}

}  // namespace attune::cli

#include "app/verbs/jobs/jobs.h"

#include <fmt/format.h>

#include "app/cli/fleet/jobs_verbs.h"
#include "app/cli/fleet/jobs_view.h"
#include "app/cli/fleet/scheduler_options.h"
#include "app/cli/interrupt.h"
#include "app/cli/shared_options.h"
#include "app/cli/verbs.h"
#include "base/clock.h"

namespace attune::cli {
namespace {

Result<int> run_list(Words arguments, Console& console) {
  CommandLine line("jobs list", "Lists the jobs of the scheduler and how busy its resources are.");
  Speech speech;
  bool all = false;
  const SchedulerArguments scheduler(line);
  line.flag("--all", all, "all jobs that have ended, not only the newest 20");
  add_speech_options(line, speech, "print one JSON document");
  line.example("jobs", "the same as 'attune jobs list'");
  line.example("jobs list --json", "for programs");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(const client::Overview overview, verbs::list_jobs("", scheduler.take(console)));
    if (speech.json) {
      ATTUNE_RETURN_IF_ERROR(
          console.print(verbs::to_json(overview, false, verbs::JsonForm::Pretty) + "\n"));
      return 0;
    }
    if (overview.jobs.empty()) console.note("no jobs; 'attune submit MODEL' adds one");
    std::string page =
        overview.jobs.empty() ? "" : jobs_table(overview, all ? SIZE_MAX : 20) + "\n";
    ATTUNE_RETURN_IF_ERROR(console.print(page + pools_table(overview)));
    console.detail(fmt::format("policy {}", overview.policy));
    return 0;
  });
}

Result<int> run_show(Words arguments, Console& console) {
  CommandLine line("jobs show", "Everything about one job.");
  Speech speech;
  std::string job;
  line.required("JOB", job, "the name or the number of a job");
  const SchedulerArguments scheduler(line);
  add_speech_options(line, speech, "print one JSON document, with the report of the tuner");
  line.example("jobs show resnet18", "by its name");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(const client::Overview overview, verbs::list_jobs(job, scheduler.take(console)));
    if (overview.jobs.empty()) {
      return Error{ErrorCode::NotFound, fmt::format("there is no job '{}'", job),
                   "'attune jobs' lists them"};
    }
    const client::JobStatus& status = overview.jobs.front();
    ATTUNE_RETURN_IF_ERROR(console.print(speech.json ? verbs::to_json(status) + "\n"
                                                     : job_page(status, overview.now)));
    return 0;
  });
}

// pause, resume, stop and cancel.
Result<int> run_control(const std::string& verb, const std::string& summary,
                        const std::string& example, client::Wish wish, Words arguments,
                        Console& console) {
  CommandLine line("jobs " + verb, summary);
  Speech speech;
  std::string job;
  line.required("JOB", job, "the name or the number of a job");
  const SchedulerArguments scheduler(line);
  add_speech_options(line, speech, "print one JSON document");
  line.example(fmt::format("jobs {} resnet18", verb), example);
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(const client::JobStatus status,
                  verbs::control_job(job, wish, scheduler.take(console)));
    ATTUNE_RETURN_IF_ERROR(console.print(speech.json ? verbs::to_json(status) + "\n" : ""));
    console.note(job_line(status, static_cast<double>(unix_time_ms()) * 1e-3));
    return 0;
  });
}

Result<int> run_pause(Words arguments, Console& console) {
  return run_control("pause", "Lets a job wait: stages that run end, no others begin.",
                     "'attune jobs resume resnet18' lets it go on", client::Wish::Pause, arguments,
                     console);
}
Result<int> run_resume(Words arguments, Console& console) {
  return run_control("resume", "Lets a paused job go on.", "it goes on where it was",
                     client::Wish::Resume, arguments, console);
}
Result<int> run_stop(Words arguments, Console& console) {
  return run_control("stop", "Ends a job early and keeps the best so far.",
                     "the artifact is written as if the budget were used up", client::Wish::Stop,
                     arguments, console);
}
Result<int> run_cancel(Words arguments, Console& console) {
  return run_control("cancel", "Ends a job early and writes nothing.",
                     "what was measured stays in its records", client::Wish::Cancel, arguments,
                     console);
}

constexpr Verb kJobsVerbs[] = {
    {"list", "lists jobs and resources", run_list},
    {"show", "everything about one job", run_show},
    {"watch", "a live view, with a strip for each resource", run_jobs_watch},
    {"fetch", "writes what a job of yours made", run_jobs_fetch},
    {"pause", "lets a job wait", run_pause},
    {"resume", "lets a paused job go on", run_resume},
    {"stop", "ends a job and keeps the best so far", run_stop},
    {"cancel", "ends a job and writes nothing", run_cancel},
    {"prune", "forgets jobs that ended long ago", run_jobs_prune},
};

}  // namespace

Result<int> run_jobs(Words arguments, Console& console) {
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::string page =
        "usage: attune jobs [COMMAND] [argument]... [option]...\n\n"
        "The jobs of the scheduler; without a command they are listed.\n\ncommands:\n";
    for (const Verb& verb : kJobsVerbs) {
      page += fmt::format("  {:<10} {}\n", verb.name, verb.summary);
    }
    page +=
        "\nexamples:\n  attune jobs --json\n      all jobs, for programs\n"
        "  attune jobs watch\n      what happens, as it happens\n";
    ATTUNE_RETURN_IF_ERROR(console.print(page));
    return 0;
  }
  if (arguments.empty() || arguments[0].starts_with('-')) return run_list(arguments, console);
  return dispatch("jobs ", kJobsVerbs, arguments, console);
}

}  // namespace attune::cli

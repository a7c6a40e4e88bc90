#include <fmt/format.h>

#include "app/cli/fleet/jobs_verbs.h"
#include "app/cli/fleet/jobs_view.h"
#include "app/cli/fleet/scheduler_options.h"
#include "app/cli/interrupt.h"
#include "app/cli/shared_options.h"
#include "app/cli/verbs.h"
#include "app/verbs/jobs/fetch.h"
#include "app/verbs/jobs/jobs.h"

namespace attune::cli {
namespace {

// Until the job has ended; what became of it.
Result<client::JobStatus> wait_for(const client::JobStatus& submitted,
                                   const verbs::SchedulerOptions& scheduler, Console& console,
                                   const Interrupt& interrupt) {
  client::JobStatus newest = submitted;
  std::string told;
  ATTUNE_RETURN_IF_ERROR(verbs::watch_jobs(
      submitted.id, 0.25, scheduler,
      [&](const client::Overview& overview) {
        if (overview.jobs.empty()) return true;
        newest = overview.jobs.front();
        if (console.is_terminal()) {
          console.progress_line(job_line(newest, overview.now));
          return !client::has_ended(newest.state);
        }
        client::JobStatus lasting = newest;
        lasting.predicted_end = 0;  // moves all the time
        const std::string line = job_line(lasting, overview.now);
        const bool ended = client::has_ended(newest.state);
        if (!ended && std::exchange(told, line) != line) console.note(line);
        return !client::has_ended(newest.state);
      },
      interrupt.requested()));
  console.clear_progress_line();
  return newest;
}

Result<int> submit(const verbs::SubmitOptions& options, const verbs::SchedulerOptions& scheduler,
                   bool wait, const Speech& speech, Console& console) {
  ATTUNE_ASSIGN(const client::Submitted submitted, verbs::submit_job(options, scheduler));
  const client::JobStatus& job = submitted.job;
  const std::string where = scheduler.state.empty() ? "" : " --state " + scheduler.state;
  const bool fetched = submitted.is_fetched;
  const std::string next =
      fmt::format("attune jobs {} {}{}", fetched ? "fetch" : "watch", job.id, where);
  const bool ended_at_once = client::has_ended(job.state);
  console.note(fmt::format(
      "{} '{}' (job {}){}", submitted.already_known ? "already submitted:" : "submitted",
      job.request.name, job.id, wait || ended_at_once ? "" : "; next: " + next));
  // Nobody may ever come for it.
  if (job.state == client::JobState::Queued && job.waiting_for == job.request.device) {
    console.note("it waits: " + job.reason);
  }
  if (ended_at_once && !wait) {
    if (!job.reason.empty()) console.note(job.reason);
    ATTUNE_RETURN_IF_ERROR(console.print(speech.json ? verbs::to_json(job) + "\n"
                                                     : job_line(job, job.ended_at) + "\n"));
    return 0;
  }
  if (!wait) {
    if (speech.json) ATTUNE_RETURN_IF_ERROR(console.print(verbs::to_json(job) + "\n"));
    return 0;
  }
  const Interrupt interrupt;
  ATTUNE_ASSIGN(const client::JobStatus ended, wait_for(job, scheduler, console, interrupt));
  if (!client::has_ended(ended.state)) {
    console.note("the job goes on: " + next);
    return interrupt.exit_status();
  }
  const bool made =
      ended.state == client::JobState::Done || ended.state == client::JobState::Stopped;
  if (fetched && made) {
    ATTUNE_ASSIGN(
        const verbs::FetchReport report,
        verbs::fetch_job(
            {.job = job.id, .output = verbs::output_of(options), .records = options.records},
            scheduler));
    tell_fetched(report, console);
  }
  ATTUNE_RETURN_IF_ERROR(console.print(speech.json ? verbs::to_json(ended) + "\n"
                                                   : job_line(ended, ended.ended_at) + "\n"));
  return ended.state == client::JobState::Failed ? 1 : 0;
}

}  // namespace

Result<int> run_submit(Words arguments, Console& console) {
  CommandLine line("submit",
                   "Hands a tuning job to the scheduler, which interleaves it with the jobs of "
                   "others.");
  verbs::SubmitOptions options;
  Speech speech;
  std::optional<std::int64_t> seed, prefetch;
  std::optional<double> priority;
  bool wait = false;
  const WholeModelArguments whole(line);
  const InputArguments inputs(line);
  const BudgetArguments budget(line, "measure N candidates of each task");
  add_store_options(line, options.records, options.history);
  line.number("--seed", "N", seed, 0, INT64_MAX, "of the search (0)");
  line.text("-o,--output", "FILE", options.output,
            "the artifact (NAME.attune); an operator spec has none");
  add_speech_options(line, speech, "print one JSON document");
  line.group("among other jobs");
  SchedulerArguments scheduler(line);
  line.text("--name", "NAME", options.name, "what to call it (after the model)");
  line.text("--user", "NAME", options.user,
            "whose job it is (yours); only the scheduler's own user may name another");
  line.real("--priority", "W", priority, 0.001, 1000, "its weight: 2 is twice as important (1)");
  line.text("--device", "KEY", options.device, "the kind of device to measure on (cpu)");
  line.number("--prefetch", "N", prefetch, 1, 64, "batches in flight at once (as the scheduler)");
  line.flag("--no-wait", options.no_wait, "fail when no worker has the device, do not wait");
  line.text("--key", "TEXT", options.key,
            "the same key again is the same job, not a second one (a new one each time)");
  line.flag("--wait", wait, "return when the job has ended");
  line.example("submit resnet18 --seconds 300 --name night", "a whole model, to resnet18.attune");
  line.example("submit matmul:m=512,n=512,k=512 --trials 64 --threads 1 --wait",
               "an operator; waits for its end");
  line.example("submit model.onnx --until-latency 12ms --priority 2",
               "twice as important as others, until it is fast enough");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(options.model, whole.model.take());
    options.shapes = whole.shapes.texts();
    options.constants = whole.constants.texts();
    options.maxima = whole.maxima.texts();
    ATTUNE_ASSIGN(options.inputs, inputs.take());
    if (const auto given = whole.shapes.take(); !given.ok()) return given.error();
    options.trials = budget.trials();
    options.seconds = budget.seconds();
    ATTUNE_ASSIGN(options.until_latency_ms, budget.until_latency_ms());
    options.seed = static_cast<std::uint64_t>(seed.value_or(0));
    options.prefetch = static_cast<int>(prefetch.value_or(0));
    options.priority = priority.value_or(1);
    return submit(options, scheduler.take(console), wait, speech, console);
  });
}

}  // namespace attune::cli

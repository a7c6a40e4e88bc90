#include <fmt/format.h>

#include "app/cli/fleet/jobs_verbs.h"
#include "app/cli/fleet/scheduler_options.h"
#include "app/cli/shared_options.h"
#include "app/verbs/jobs/jobs.h"

namespace attune::cli {
namespace {

constexpr double kDays = 7;

std::string lines_of(const std::vector<client::JobStatus>& jobs) {
  std::string lines;
  for (const client::JobStatus& job : jobs) {
    lines += fmt::format("{:<8} {}\n", job.id, job.request.name);
  }
  return lines;
}

}  // namespace

Result<int> run_jobs_prune(Words arguments, Console& console) {
  CommandLine line(
      "jobs prune",
      "Forgets jobs that have ended, with what lies in their folders: reports, records "
      "that were added to yours, results that nobody fetched. Your own; those of all "
      "where the scheduler is yours. The newest job always stays.");
  Speech speech;
  std::optional<double> days;
  bool dry_run = false;
  const SchedulerArguments scheduler(line);
  line.real("--older-than", "DAYS", days, 0, 36500, "those that ended so long ago or longer (7)");
  line.flag("--dry-run", dry_run, "only says which they would be");
  add_speech_options(line, speech, "print one JSON document");
  line.example("jobs prune", "what ended more than a week ago");
  line.example("jobs prune --older-than 0 --dry-run", "lists all that have ended");
  line.example("jobs prune --older-than 0.5 --json", "what ended more than 12 hours ago");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    ATTUNE_ASSIGN(
        const std::vector<client::JobStatus> jobs,
        verbs::prune_jobs(days.value_or(kDays) * 86400, dry_run, scheduler.take(console)));
    ATTUNE_RETURN_IF_ERROR(
        console.print(speech.json ? verbs::pruned_json(jobs, dry_run) + "\n" : lines_of(jobs)));
    console.note(fmt::format("{} {} {}", dry_run ? "would forget" : "forgot", jobs.size(),
                             jobs.size() == 1 ? "job" : "jobs"));
    return 0;
  });
}

}  // namespace attune::cli

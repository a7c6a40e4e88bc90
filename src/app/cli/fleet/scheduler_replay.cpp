#include <fmt/format.h>

#include "app/cli/fleet/scheduler_verbs.h"
#include "app/cli/shared_options.h"
#include "app/verbs/jobs/replay_jobs.h"

namespace attune::cli {
namespace {

std::string page_of(const verbs::SimulateReport& report) {
  std::string page = fmt::format("{:<15} {:>10} {:>14} {:>12} {:>12}", "policy", "makespan",
                                 "makespan ÷ LB", "completion", "worst share");
  for (const std::string& pool : report.pools) page += fmt::format(" {:>10}", pool);
  page += "\n";
  for (const verbs::SimulatedPolicy& policy : report.policies) {
    page += fmt::format("{:<15} {:>8.1f} s {:>13.3f} {:>12.2f} {:>12.2f}", policy.policy,
                        policy.makespan_mean_seconds, policy.ratio_mean, policy.completion_mean,
                        policy.share_max);
    for (const double used : policy.utilisation) page += fmt::format(" {:>9.0f}%", 100 * used);
    page += "\n";
  }
  page += fmt::format(
      "\n{} jobs, lower bound {:.1f} s; recorded: as it ran, others: the same stage times;\n"
      "completion: from submission to end ÷ alone; worst share: the same ÷ with an equal part of\n"
      "everything; then how busy each pool is\n",
      report.jobs.size(), report.policies.front().lower_bound_mean_seconds);
  return page;
}

}  // namespace

Result<int> run_scheduler_replay(Words arguments, Console& console) {
  CommandLine line("scheduler replay",
                   "Simulates other policies on the stage times that a scheduler recorded.");
  verbs::ReplayJobsOptions options;
  Speech speech;
  std::string policies = "all", jobs;
  line.text("--state", "DIR", options.state,
            "the scheduler's directory (~/.local/share/attune/scheduler)");
  line.text("--policy", "NAMES", policies, "one or several, with commas, or all (all)");
  line.text("--jobs", "NAMES", jobs, "names or numbers of jobs, with commas (all that ended)");
  line.flag("--at-once", options.at_once, "as if all jobs had been submitted together");
  line.text("--gantt", "FILE", options.gantt,
            "an SVG chart of the one policy that is named, else of the run as it was");
  add_speech_options(line, speech, "print one JSON document");
  line.example("scheduler replay", "would another policy have been faster?");
  line.example("scheduler replay --policy fair --jobs j1,j2 --gantt chart.svg",
               "two jobs under one policy, with a chart");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    options.policies = words_of(policies);
    if (!jobs.empty()) options.jobs = words_of(jobs);
    ATTUNE_ASSIGN(const verbs::SimulateReport report, verbs::replay_jobs(options));
    ATTUNE_RETURN_IF_ERROR(
        console.print(speech.json ? verbs::to_json(report) + "\n" : page_of(report)));
    if (!report.gantt.empty()) console.note(fmt::format("wrote {}", report.gantt));
    return 0;
  });
}

}  // namespace attune::cli

#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "app/cli/fleet/jobs_verbs.h"
#include "app/cli/fleet/jobs_view.h"
#include "app/cli/fleet/scheduler_options.h"
#include "app/cli/interrupt.h"
#include "app/cli/shared_options.h"
#include "app/verbs/jobs/jobs.h"
#include "base/clock.h"

namespace attune::cli {
namespace {

bool all_ended(const client::Overview& overview) {
  for (const client::JobStatus& job : overview.jobs) {
    if (!client::has_ended(job.state)) return false;
  }
  return !overview.jobs.empty();
}

// Shows one state after the other, in the form that fits where the output goes.
class Shown {
 public:
  Shown(Console& console, bool json) : console_(console), json_(json) {}

  Status show(const client::Overview& overview) {
    if (overview.now != newest_) {
      newest_ = overview.now;
      came_ns_ = clock_.now_ns();
    } else if (!live()) {
      return {};  // a tick
    }
    if (json_) return console_.print(verbs::to_json(overview, false, verbs::JsonForm::Line) + "\n");
    if (!live()) return show_changes(overview);
    Screen screen = console_.screen();
    screen.colours = std::getenv("NO_COLOR") == nullptr;
    const double now = overview.now + seconds_between(came_ns_, clock_.now_ns());
    return console_.redraw(live_page(overview, now, screen));
  }

 private:
  bool live() const { return !json_ && console_.output_is_terminal(); }

  // A line for each job about which there is something new to say.
  Status show_changes(const client::Overview& overview) {
    for (const client::JobStatus& job : overview.jobs) {
      client::JobStatus told = job;
      told.predicted_end = 0;  // moves all the time
      const std::string line = job_line(told, overview.now);
      std::string& last = told_[job.id];
      if (line == last) continue;
      last = line;
      ATTUNE_RETURN_IF_ERROR(console_.print(line + "\n"));
    }
    return {};
  }

  Console& console_;
  bool json_;
  SteadyClock clock_;
  double newest_ = -1;
  std::int64_t came_ns_ = 0;
  std::map<std::string, std::string> told_;  // by job
};

}  // namespace

Result<int> run_jobs_watch(Words arguments, Console& console) {
  CommandLine line("jobs watch",
                   "A live view of the jobs, with a strip for each resource that shows which job "
                   "had it when. Ends with the job, or when all have ended.");
  Speech speech;
  std::string job;
  line.optional("JOB", job, "the name or the number of a job (all)");
  const SchedulerArguments scheduler(line);
  add_speech_options(line, speech, "print a JSON document on a line of its own at each change");
  line.example("jobs watch", "all jobs");
  line.example("jobs watch resnet18 > log", "a line for each change, where it is no terminal");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    const Interrupt interrupt;
    Shown shown(console, speech.json);
    Status printed;
    bool failed = false;
    ATTUNE_RETURN_IF_ERROR(verbs::watch_jobs(
        job, 0.25, scheduler.take(console),
        [&](const client::Overview& overview) {
          printed = shown.show(overview);
          failed = !job.empty() && !overview.jobs.empty() &&
                   overview.jobs.front().state == client::JobState::Failed;
          return printed.ok() && !all_ended(overview);
        },
        interrupt.requested()));
    ATTUNE_RETURN_IF_ERROR(printed);
    if (interrupt.exit_status() != 0) return interrupt.exit_status();
    return failed ? 1 : 0;
  });
}

}  // namespace attune::cli

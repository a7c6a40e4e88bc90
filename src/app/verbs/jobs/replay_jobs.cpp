#include "app/verbs/jobs/replay_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.h"
#include "fleet/jobs/policies/policies.h"
#include "fleet/jobs/simulation/replay.h"
#include "fleet/server/state_file.h"
#include "fleet/wire/state_directory.h"

namespace attune::verbs {
namespace {

constexpr const char* kRecorded = "recorded";

bool is_named(const jobs::JobRow& row, const std::string& name) {
  return row.job.id() == name || row.job.spec().name() == name;
}

// Those that were asked for, or all that have ended.
Result<std::vector<jobs::JobRow>> chosen_jobs(const std::vector<jobs::JobRow>& all,
                                              const std::vector<std::string>& names) {
  std::vector<jobs::JobRow> chosen;
  for (const jobs::JobRow& row : all) {
    const bool wanted = names.empty() ? row.job.state() >= v1::DONE
                                      : std::any_of(names.begin(), names.end(), [&](const auto& n) {
                                          return is_named(row, n);
                                        });
    if (wanted) chosen.push_back(row);
  }
  for (const std::string& name : names) {
    if (std::any_of(all.begin(), all.end(), [&](const auto& row) { return is_named(row, name); })) {
      continue;
    }
    return Error{ErrorCode::NotFound, fmt::format("there is no job '{}'", name),
                 "'attune jobs --all' lists them"};
  }
  return chosen;
}

Result<jobs::RecordedRun> read_run(const ReplayJobsOptions& options) {
  ATTUNE_ASSIGN(const std::string state, wire::state_directory(options.state));
  const std::string path = wire::database_path(state);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Error{ErrorCode::NotFound, fmt::format("no scheduler has run in {}", state),
                 "name its directory with --state DIR"};
  }
  ATTUNE_ASSIGN(const server::StateFile file, server::StateFile::open_to_read(path));
  ATTUNE_ASSIGN(const std::vector<jobs::Pool> pools, file.read_pools());
  ATTUNE_ASSIGN(const std::vector<jobs::JobRow> all, file.read_jobs());
  ATTUNE_ASSIGN(const std::vector<jobs::JobRow> chosen, chosen_jobs(all, options.jobs));
  ATTUNE_ASSIGN(const std::vector<jobs::StageRow> stages, file.read_stages());
  ATTUNE_ASSIGN(jobs::RecordedRun run, jobs::recorded_run(pools, chosen, stages));
  return options.at_once ? jobs::submitted_at_once(std::move(run)) : std::move(run);
}

SimulatedPolicy figures_of(const std::string& name, const jobs::SimulatedRun& run) {
  SimulatedPolicy figures{.policy = name,
                          .ratio_mean = run.ratio(),
                          .ratio_max = run.ratio(),
                          .completion_mean = run.mean_slowdown(),
                          .share_max = run.worst_share_ratio(),
                          .makespan_mean_seconds = run.makespan,
                          .lower_bound_mean_seconds = run.lower_bound,
                          .utilisation = run.utilisation};
  for (const jobs::JobResult& job : run.jobs) {
    figures.slowdowns.push_back(job.completed_at / job.alone_seconds);
  }
  return figures;
}

}  // namespace

Result<SimulateReport> replay_jobs(const ReplayJobsOptions& options) {
  std::vector<std::string> names = options.policies;
  std::erase(names, kRecorded);
  ATTUNE_ASSIGN(const auto policies, jobs::find_policies(names));
  ATTUNE_ASSIGN(const jobs::RecordedRun recorded, read_run(options));
  SimulateReport report{.seeds = 1, .gantt = options.gantt};
  for (const jobs::Pool& pool : recorded.pools) report.pools.push_back(pool.name);
  for (const jobs::RecordedJob& job : recorded.jobs) report.jobs.push_back(job.name);
  // The chart is of the only policy that was named, else of the run as it was.
  const bool chart_of_policy = policies.size() == 1;
  const auto add = [&](const std::string& name, const jobs::SimulatedRun& run,
                       bool charted) -> Status {
    report.policies.push_back(figures_of(name, run));
    report.stages += run.stages;
    if (!charted || options.gantt.empty()) return {};
    return write_file_atomically(options.gantt, jobs::gantt_svg(recorded, run, name));
  };
  ATTUNE_RETURN_IF_ERROR(add(kRecorded, jobs::as_it_ran(recorded), !chart_of_policy));
  for (const jobs::Policy* policy : policies) {
    ATTUNE_RETURN_IF_ERROR(
        add(std::string(policy->name), jobs::replay(recorded, *policy), chart_of_policy));
  }
  return report;
}

}  // namespace attune::verbs

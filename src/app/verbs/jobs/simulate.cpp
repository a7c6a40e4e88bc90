#include "app/verbs/jobs/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/text_file.h"
#include "fleet/jobs/policies/policies.h"
#include "fleet/jobs/simulation/experiment_file.h"
#include "fleet/jobs/simulation/gantt.h"

namespace attune::verbs {
namespace {

Result<jobs::Experiment> experiment_of(const SimulateOptions& options) {
  if (!options.plan.empty()) {
    ATTUNE_ASSIGN(const std::string text, read_text_file(options.plan, kLargestSettingBytes));
    return jobs::parse_experiment(text);
  }
  jobs::Experiment experiment{{{"host", options.host}, {"device", options.device}},
                              {},
                              options.noise,
                              options.heterogeneity};
  jobs::MockJob job{.name = "job", .batches = options.batches, .prefetch = options.prefetch};
  ATTUNE_ASSIGN(job.stages, jobs::parse_stages(options.stages, experiment.pools));
  ATTUNE_RETURN_IF_ERROR(jobs::add_jobs(experiment, job, options.jobs));
  return experiment;
}

// A bar takes about 200 bytes, and no browser likes more of them.
Status check_chart(const jobs::Experiment& experiment) {
  constexpr std::int64_t kMostBars = 200'000;
  std::int64_t bars = 0;
  for (const jobs::MockJob& job : experiment.jobs) {
    for (std::size_t kind = 0; kind < job.kinds(); ++kind) {
      bars += static_cast<std::int64_t>(job.count(kind)) * job.kind(kind).amount;
    }
  }
  if (bars <= kMostBars) return {};
  return invalid(fmt::format("a chart of {} bars is too large, {} are the most", bars, kMostBars),
                 "choose fewer jobs or batches, or leave out --gantt");
}

void add_run(SimulatedPolicy& sums, const jobs::SimulatedRun& run, double weight) {
  sums.ratio_mean += weight * run.ratio();
  sums.ratio_max = std::max(sums.ratio_max, run.ratio());
  sums.completion_mean += weight * run.mean_slowdown();
  sums.share_max = std::max(sums.share_max, run.worst_share_ratio());
  sums.makespan_mean_seconds += weight * run.makespan;
  sums.lower_bound_mean_seconds += weight * run.lower_bound;
  for (std::size_t i = 0; i < run.utilisation.size(); ++i) {
    sums.utilisation[i] += weight * run.utilisation[i];
  }
  for (std::size_t i = 0; i < run.jobs.size(); ++i) {
    sums.slowdowns[i] += weight * run.jobs[i].completed_at / run.jobs[i].alone_seconds;
  }
}

}  // namespace

Result<SimulateReport> simulate(const SimulateOptions& options) {
  ATTUNE_ASSIGN(const jobs::Experiment experiment, experiment_of(options));
  ATTUNE_ASSIGN(const auto policies, jobs::find_policies(options.policies));
  if (!options.gantt.empty()) ATTUNE_RETURN_IF_ERROR(check_chart(experiment));
  SimulateReport report;
  report.seeds = options.seeds;
  for (const jobs::Pool& pool : experiment.pools) report.pools.push_back(pool.name);
  for (const jobs::MockJob& job : experiment.jobs) report.jobs.push_back(job.name);
  for (const jobs::Policy* policy : policies) {
    SimulatedPolicy sums;
    sums.policy = policy->name;
    sums.utilisation.assign(report.pools.size(), 0.0);
    sums.slowdowns.assign(report.jobs.size(), 0.0);
    for (int i = 0; i < options.seeds; ++i) {
      const bool chart = !options.gantt.empty() && report.policies.empty() && i == 0;
      const std::uint64_t seed = options.first_seed + static_cast<std::uint64_t>(i);
      const jobs::SimulatedRun run = jobs::simulate(experiment, *policy, seed, chart);
      add_run(sums, run, 1.0 / options.seeds);
      report.stages += run.stages;
      if (!chart) continue;
      const std::string title = fmt::format("policy {}, seed {}", policy->name, seed);
      ATTUNE_RETURN_IF_ERROR(
          write_file_atomically(options.gantt, jobs::gantt_svg(experiment, run, title)));
      report.gantt = options.gantt;
    }
    report.policies.push_back(std::move(sums));
  }
  return report;
}

std::string to_json(const SimulateReport& report) {
  using Json = nlohmann::ordered_json;
  Json policies = Json::array();
  for (const SimulatedPolicy& policy : report.policies) {
    Json utilisation = Json::object();
    for (std::size_t i = 0; i < report.pools.size(); ++i) {
      utilisation[report.pools[i]] = policy.utilisation[i];
    }
    policies.push_back({{"policy", policy.policy},
                        {"ratio_mean", policy.ratio_mean},
                        {"ratio_max", policy.ratio_max},
                        {"completion_mean", policy.completion_mean},
                        {"share_max", policy.share_max},
                        {"utilisation", utilisation},
                        {"makespan_mean_seconds", policy.makespan_mean_seconds},
                        {"lower_bound_mean_seconds", policy.lower_bound_mean_seconds},
                        {"slowdowns", policy.slowdowns},
                        {"seeds", report.seeds}});
  }
  // One policy is the document itself; several are a list.
  if (policies.size() == 1) return policies[0].dump(2);
  return Json{{"policies", policies}}.dump(2);
}

}  // namespace attune::verbs

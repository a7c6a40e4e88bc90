#include "app/verbs/jobs/simulate.h"

#include <fmt/format.h>

#include "app/cli/shared_options.h"
#include "app/cli/verbs.h"

namespace attune::cli {
namespace {

std::string page_of(const verbs::SimulateReport& report) {
  std::string page = fmt::format("{:<15} {:>15} {:>12} {:>12}", "policy", "makespan ÷ LB",
                                 "completion", "worst share");
  for (const std::string& pool : report.pools) page += fmt::format(" {:>10}", pool);
  page += "\n";
  for (const verbs::SimulatedPolicy& policy : report.policies) {
    page +=
        fmt::format("{:<15} {:>7.3f} {:>6.3f} {:>12.2f} {:>12.2f}", policy.policy,
                    policy.ratio_mean, policy.ratio_max, policy.completion_mean, policy.share_max);
    for (const double used : policy.utilisation) page += fmt::format(" {:>9.0f}%", 100 * used);
    page += "\n";
  }
  page += fmt::format(
      "\nmakespan ÷ lower bound: mean and worst of {} seeds; completion: from submission to end ÷ "
      "alone;\nworst share: the same ÷ with an equal part of everything; then how busy each pool "
      "is\n",
      report.seeds);
  if (report.policies.size() == 1 && report.jobs.size() <= 32) {
    page += "\nslowdown of each job:";
    const auto& slowdowns = report.policies[0].slowdowns;
    for (std::size_t i = 0; i < slowdowns.size(); ++i) {
      page += fmt::format("{}{} {:.2f}", i % 6 == 0 ? "\n  " : ", ", report.jobs[i], slowdowns[i]);
    }
    page += "\n";
  }
  return page;
}

// A plan says all that these options say.
Status check_nothing_dropped(const CommandLine& line) {
  for (const char* option : {"--jobs", "--host", "--device", "--batches", "--prefetch", "--stages",
                             "--noise", "--heterogeneity"}) {
    if (!line.given(option)) continue;
    return invalid(fmt::format("'simulate' takes a plan or {}, not both", option),
                   "leave out one of the two; a plan says it by itself");
  }
  return {};
}

}  // namespace

Result<int> run_simulate(Words arguments, Console& console) {
  CommandLine line(
      "simulate",
      "Schedules imagined tuning jobs on a virtual clock, to compare policies. A plan of such "
      "jobs:\n"
      "  {\"pools\": {\"host\": 2, \"device\": 1}, \"jobs\": [{\"name\": \"resnet18\", "
      "\"batches\": 60,\n"
      "   \"stages\": [{\"name\": \"build\", \"seconds\": 8.3},\n"
      "              {\"name\": \"profile\", \"seconds\": [39.1, 40.2]}]}]}\n"
      "where seconds are a mean or a list of recorded times; docs/scheduling.md has all keys.");
  Speech speech;
  verbs::SimulateOptions options;
  std::string policies = "makespan";
  std::optional<std::int64_t> jobs, host, device, batches, prefetch, seeds, seed;
  std::optional<double> noise, heterogeneity;
  line.optional("PLAN", options.plan,
                "a JSON file as above, instead of the options from --jobs to --heterogeneity");
  line.number("--jobs", "N", jobs, 1, 100'000, "equal jobs, submitted at once (4)");
  line.number("--host", "N", host, 1, 100'000, "units of the host (1)");
  line.number("--device", "N", device, 1, 100'000, "devices (1)");
  line.number("--batches", "N", batches, 1, 1'000'000, "batches of each job (60)");
  line.number("--prefetch", "N", prefetch, 1, 1000, "batches of a job in flight at once (1)");
  line.text("--stages", "LIST", options.stages,
            "mean seconds; profile holds a device, others the host, NAME@POOL as it says "
            "(build=8.3,profile=39.5,update=44)");
  line.real("--noise", "S", noise, 0, 10, "log deviation of each stage (0.3)");
  line.real("--heterogeneity", "S", heterogeneity, 0, 10, "log deviation of each job (0.6)");
  line.text("--policy", "NAMES", policies, "one or several, with commas, or all (makespan)");
  line.number("--seeds", "N", seeds, 1, 100'000, "runs with times drawn anew (20)");
  line.number("--seed", "N", seed, 0, INT64_MAX, "the first seed (0)");
  line.text("--gantt", "FILE", options.gantt, "an SVG chart of the first run");
  add_speech_options(line, speech, "print one JSON document");
  line.example("simulate --jobs 16 --host 2 --device 2 --policy all", "a table of all policies");
  line.example("simulate plan.json --policy fair-share --gantt chart.svg",
               "jobs of a file, with a chart");
  return perform(line, arguments, speech, console, [&]() -> Result<int> {
    if (!options.plan.empty()) ATTUNE_RETURN_IF_ERROR(check_nothing_dropped(line));
    options.policies = words_of(policies);
    const auto take = [](const std::optional<std::int64_t>& from, int& into) {
      if (from) into = static_cast<int>(*from);
    };
    take(jobs, options.jobs);
    take(host, options.host);
    take(device, options.device);
    take(batches, options.batches);
    take(prefetch, options.prefetch);
    take(seeds, options.seeds);
    options.first_seed = static_cast<std::uint64_t>(seed.value_or(0));
    options.noise = noise.value_or(options.noise);
    options.heterogeneity = heterogeneity.value_or(options.heterogeneity);
    ATTUNE_ASSIGN(const verbs::SimulateReport report, verbs::simulate(options));
    ATTUNE_RETURN_IF_ERROR(
        console.print(speech.json ? verbs::to_json(report) + "\n" : page_of(report)));
    if (!report.gantt.empty()) console.note(fmt::format("wrote {}", report.gantt));
    return 0;
  });
}

}  // namespace attune::cli

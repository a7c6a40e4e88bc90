#include "fleet/jobs/scheduler/experience.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace attune::jobs {
namespace {

constexpr double kLeastSeconds = 1e-3;

// Jobs that say how many trials they want take longer the more they are; of the others each counts
// as one.
double budget_of(const v1::JobSpec& spec) {
  return spec.trials() > 0 ? static_cast<double>(spec.trials()) : 1.0;
}

std::string key_of(const v1::JobSpec& spec, const std::string& model) {
  return (spec.trials() > 0 ? "trials of " : "all of ") + model;
}

}  // namespace

bool Experience::learn_stage(const std::string& kind, double seconds) {
  Seen& seen = stages_[kind];
  seen.seconds += std::max(seconds, kLeastSeconds);
  seen.count += 1;
  return std::has_single_bit(static_cast<std::uint64_t>(seen.count));
}

double Experience::stage_seconds(const std::string& kind, double said) const {
  const auto found = stages_.find(kind);
  const double usual = std::max(said, kLeastSeconds);
  if (found == stages_.end()) return usual;
  return (found->second.seconds + usual) / (found->second.count + 1);
}

// What ended for another reason than its trials would have taken longer, and what was known already
// took no time.
void Experience::learn_job(const v1::Job& job) {
  const v1::JobSpec& spec = job.spec();
  if (job.state() != v1::DONE || spec.seconds() > 0 || spec.until_latency_ms() > 0) return;
  if (job.attained_seconds() <= 0) return;
  for (const std::string& model : {spec.model(), std::string()}) {
    Seen& seen = jobs_[key_of(spec, model)];
    seen.seconds += job.attained_seconds();
    seen.count += budget_of(spec);
  }
}

double Experience::job_seconds(const v1::JobSpec& spec) const {
  auto found = jobs_.find(key_of(spec, spec.model()));
  if (found == jobs_.end()) found = jobs_.find(key_of(spec, ""));
  const double limit = spec.seconds();
  if (found == jobs_.end()) return limit > 0 ? limit : -1;
  const double seconds = found->second.seconds / found->second.count * budget_of(spec);
  return limit > 0 ? std::min(seconds, limit) : seconds;
}

}  // namespace attune::jobs

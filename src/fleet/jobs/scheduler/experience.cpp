#include "fleet/jobs/scheduler/experience.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace attune::jobs {
namespace {

constexpr double kLeastSeconds = 1e-3;
// When so many are known, those of which no job waits are forgotten.
constexpr std::size_t kMostModels = 10'000;

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
    Seen& seen = *of_jobs(key_of(spec, model));
    seen.seconds += job.attained_seconds();
    seen.count += budget_of(spec);
  }
}

const std::shared_ptr<Seen>& Experience::of_jobs(const std::string& key) {
  if (jobs_.size() >= kMostModels && jobs_.count(key) == 0) {
    std::erase_if(jobs_, [](const auto& each) {
      return each.second.use_count() == 1 && !each.first.ends_with(" of ");  // of all models
    });
  }
  std::shared_ptr<Seen>& seen = jobs_[key];
  if (seen == nullptr) seen = std::make_shared<Seen>();
  return seen;
}

Expectation Experience::expect(const v1::JobSpec& spec) {
  std::shared_ptr<Seen> same = of_jobs(key_of(spec, spec.model()));
  return {std::move(same), of_jobs(key_of(spec, "")), spec};
}

Expectation::Expectation(std::shared_ptr<const Seen> same, std::shared_ptr<const Seen> any,
                         const v1::JobSpec& spec)
    : same_(std::move(same)),
      any_(std::move(any)),
      budget_(budget_of(spec)),
      limit_seconds_(spec.seconds()) {}

double Expectation::seconds() const {
  const Seen* seen = same_ != nullptr && same_->count > 0 ? same_.get() : any_.get();
  const double limit = limit_seconds_;
  if (seen == nullptr || seen->count <= 0) return limit > 0 ? limit : -1;
  const double all = seen->seconds / seen->count * budget_;
  return limit > 0 ? std::min(all, limit) : all;
}

}  // namespace attune::jobs

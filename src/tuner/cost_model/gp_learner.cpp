#include "tuner/cost_model/gp_learner.h"

#include <algorithm>
#include <cmath>

#include "tuner/cost_model/learner_def.h"

namespace attune::cost_model {
namespace {

// What is learnt from, the cost growing with the cube of it: the fastest, those that were most
// overrated, and failures.
constexpr std::size_t kFastest = 160, kOverrated = 64, kFailures = 48;
constexpr double kFailureLogRatio = 1.1;  // above the worst that ran

std::vector<const space::Candidate*> fastest_first(std::span<const space::Candidate> tried) {
  std::vector<const space::Candidate*> measured;
  for (const space::Candidate& candidate : tried) {
    if (candidate.time_us) measured.push_back(&candidate);
  }
  std::stable_sort(measured.begin(), measured.end(),
                   [](const auto* a, const auto* b) { return *a->time_us < *b->time_us; });
  return measured;
}

}  // namespace

GpLearner::GpLearner(AcquisitionRule rule, const space::Space& space,
                     std::shared_ptr<const Prior> prior)
    : rule_(rule), prior_(std::move(prior)), correction_(space) {}

void GpLearner::fit(std::span<const space::Candidate> tried) {
  std::vector<Residual> residuals;
  const auto measured = fastest_first(tried);
  trust_ = prior_->trust(lessons_of(tried, kFastest + kOverrated));
  best_ = measured.empty() ? 0 : log_time(*measured[0]->time_us);
  for (const space::Candidate* candidate : measured) {
    const double prior = prior_->log_us(*candidate->point, candidate->predicted_us, trust_);
    residuals.push_back({*candidate->point, log_time(*candidate->time_us) - prior});
  }
  double worst = 0;
  for (const Residual& residual : residuals) worst = std::max(worst, residual.log_ratio);
  if (residuals.size() > kFastest) {
    std::stable_sort(residuals.begin() + kFastest, residuals.end(),
                     [](const auto& a, const auto& b) { return a.log_ratio > b.log_ratio; });
    residuals.resize(std::min(residuals.size(), kFastest + kOverrated));
  }
  std::size_t failures = 0;
  for (const space::Candidate& candidate : tried) {
    if (candidate.time_us || failures == kFailures) continue;
    residuals.push_back({*candidate.point, worst + kFailureLogRatio});
    ++failures;
  }
  correction_.fit(std::move(residuals));
}

void GpLearner::score(std::span<const Query> queries, std::span<double> scores) const {
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const space::Point& point = *queries[i].point;
    scores[i] = prior_->log_us(point, queries[i].predicted_us, trust_) + correction_.mean(point);
  }
}

void GpLearner::acquire(std::span<const Query> queries, std::span<double> scores) const {
  score(queries, scores);
  if (rule_.kind == Acquisition::Mean) return;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    scores[i] = rule_.score(scores[i], correction_.deviation(*queries[i].point), best_);
  }
}

LearnerDef gp_learner() {
  return {"gp",
          [](const LearnerPlan& plan) -> Result<std::unique_ptr<Learner>> {
            return std::unique_ptr<Learner>(std::make_unique<GpLearner>(
                plan.rule, plan.space, make_prior(plan, true, nullptr)));
          },
          {.acquisition = true}};
}

}  // namespace attune::cost_model

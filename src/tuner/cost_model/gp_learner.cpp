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

std::vector<const Example*> fastest_first(std::span<const Example> examples) {
  std::vector<const Example*> measured;
  for (const Example& example : examples) {
    if (example.measured_us) measured.push_back(&example);
  }
  std::stable_sort(measured.begin(), measured.end(), [](const Example* a, const Example* b) {
    return *a->measured_us < *b->measured_us;
  });
  return measured;
}

}  // namespace

GpLearner::GpLearner(AcquisitionRule rule, const space::Space& space,
                     std::shared_ptr<const Prior> prior)
    : rule_(rule), prior_(std::move(prior)), correction_(space) {}

void GpLearner::fit(std::span<const Example> examples) {
  std::vector<Observation> observations;
  const auto measured = fastest_first(examples);
  trust_ = prior_->trust(lessons_of(examples, kFastest + kOverrated));
  best_ = measured.empty() ? 0 : log_time(*measured[0]->measured_us);
  for (const Example* example : measured) {
    observations.push_back(
        {example->point, log_time(*example->measured_us) -
                             prior_->log_us(example->point, example->predicted_us, trust_)});
  }
  double worst = 0;
  for (const Observation& o : observations) worst = std::max(worst, o.log_ratio);
  if (observations.size() > kFastest) {
    std::stable_sort(observations.begin() + kFastest, observations.end(),
                     [](const auto& a, const auto& b) { return a.log_ratio > b.log_ratio; });
    observations.resize(std::min(observations.size(), kFastest + kOverrated));
  }
  std::size_t failures = 0;
  for (const Example& example : examples) {
    if (example.measured_us || failures == kFailures) continue;
    observations.push_back({example.point, worst + kFailureLogRatio});
    ++failures;
  }
  correction_.fit(std::move(observations));
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

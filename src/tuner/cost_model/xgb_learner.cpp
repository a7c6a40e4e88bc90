#include "tuner/cost_model/xgb_learner.h"

#include "tuner/cost_model/learner_def.h"

namespace attune::cost_model {
namespace {

constexpr std::size_t kMostLessons = 768;

}  // namespace

XgbLearner::XgbLearner(XgbParts parts)
    : ResidualLearner(parts.objective, parts.prior, kMostLessons), parts_(std::move(parts)) {}

void XgbLearner::train(std::span<const Lesson> lessons, std::span<const float> labels,
                       std::span<const float> margins) {
  const std::size_t width = parts_.features->width() - (parts_.analytic_feature ? 0 : 1);
  std::vector<float> features;
  for (const Lesson& lesson : lessons) {
    const space::Candidate& candidate = *lesson.candidate;
    const float* row = parts_.features->row(*candidate.point, candidate.predicted_us);
    features.insert(features.end(), row, row + width);
  }
  BoostOptions options;
  options.objective = objective();
  options.seed = parts_.seed;
  trees_ = BoostedTrees::train({width, features, labels, margins, {}}, options);
}

void XgbLearner::predict(std::span<const Query> queries, std::span<double> learnt) const {
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const float* row = parts_.features->row(*queries[i].point, queries[i].predicted_us);
    learnt[i] = static_cast<double>(trees_.predict(row));
  }
}

namespace {

constexpr LearnerUses kUses{.features = true, .analytic = true, .ensemble = true};

template <Objective objective>
Result<std::unique_ptr<Learner>> make(const LearnerPlan& plan) {
  ATTUNE_ASSIGN(const features::Kind kind, features::parse_kind(plan.options.features));
  auto rows = features_of(plan.space, kind);
  auto prior =
      make_prior(plan, plan.analytic_is("prior"), kind == plan.history_kind() ? rows : nullptr);
  XgbParts parts{objective, rows, std::move(prior), plan.analytic_is("feature")};
  if (kind == features::Kind::Knob) parts.typical_us = 3;
  return replicas(plan, [&](std::uint64_t seed) -> std::unique_ptr<Learner> {
    parts.seed = seed;
    return std::make_unique<XgbLearner>(parts);
  });
}

}  // namespace

LearnerDef xgb_rank_learner() { return {"xgb-rank", make<Objective::Rank>, kUses}; }
LearnerDef xgb_regression_learner() {
  return {"xgb-regression", make<Objective::Regression>, kUses};
}

}  // namespace attune::cost_model

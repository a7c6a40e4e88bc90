#include "tuner/cost_model/tree_gru_learner.h"

#include <algorithm>
#include <cmath>

#include "tuner/cost_model/learner_def.h"

namespace attune::cost_model {
namespace {

constexpr std::size_t kMostLessons = 256;
constexpr std::size_t kMostTrees = 16384;  // about 40 MB

}  // namespace

const features::LoopTree* PointTrees::tree(const space::Point& point) {
  auto& known = trees_[space::hash(point)];
  if (!known) {
    const auto scheduled = space_.schedule_of(point);
    auto tree = scheduled.ok()
                    ? features::loop_tree(*scheduled, space_.target())
                    : features::LoopTree{{-1}, std::vector<float>(features::loop_tree_width())};
    known = std::make_unique<const features::LoopTree>(std::move(tree));
  }
  return known.get();
}

void PointTrees::make_room() {
  if (trees_.size() > kMostTrees) trees_.clear();
}

TreeGruLearner::TreeGruLearner(TreeGruParts parts)
    : ResidualLearner(parts.objective, parts.prior, kMostLessons),
      parts_(std::move(parts)),
      network_(features::loop_tree_width(), parts_.seed) {}

void TreeGruLearner::train(std::span<const Lesson> lessons, std::span<const float> labels,
                           std::span<const float> margins) {
  scale_ = 1;
  if (objective() == Objective::Regression) {
    double squares = 0;
    for (float label : labels) squares += static_cast<double>(label * label);
    scale_ = std::max(std::sqrt(squares / static_cast<double>(labels.size())), 1e-3);
  }
  parts_.trees->make_room();
  std::vector<TreeSample> samples;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    samples.push_back({parts_.trees->tree(*lessons[i].candidate->point),
                       static_cast<float>(static_cast<double>(labels[i]) / scale_),
                       margins.empty() ? 0 : margins[i]});
  }
  network_.train(samples, objective());
}

void TreeGruLearner::predict(std::span<const Query> queries, std::span<double> learnt) const {
  parts_.trees->make_room();
  std::vector<const features::LoopTree*> trees;
  for (const Query& query : queries) trees.push_back(parts_.trees->tree(*query.point));
  network_.predict(trees, learnt);
  for (double& value : learnt) value *= scale_;
}

namespace {

constexpr LearnerUses kUses{.analytic = true, .ensemble = true};

template <Objective objective>
Result<std::unique_ptr<Learner>> make(const LearnerPlan& plan) {
  TreeGruParts parts{objective, std::make_shared<PointTrees>(plan.space),
                     make_prior(plan, plan.analytic_is("prior"), nullptr)};
  return replicas(plan, [&](std::uint64_t seed) -> std::unique_ptr<Learner> {
    parts.seed = seed;
    return std::make_unique<TreeGruLearner>(parts);
  });
}

}  // namespace

LearnerDef tree_gru_rank_learner() { return {"treegru-rank", make<Objective::Rank>, kUses}; }
LearnerDef tree_gru_regression_learner() {
  return {"treegru-regression", make<Objective::Regression>, kUses};
}

}  // namespace attune::cost_model

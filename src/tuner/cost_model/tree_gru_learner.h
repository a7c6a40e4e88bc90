// The TreeGRU (tree_gru.h) as a learner, by rank or by regression. The analytic prediction is its
// prior; there is no place for it as a feature.
#pragma once

#include <memory>
#include <unordered_map>

#include "tuner/cost_model/residual_learner.h"
#include "tuner/cost_model/tree_gru.h"

namespace attune::cost_model {

// Loop trees of points, remembered up to a bound, then forgotten. For one thread at a time.
class PointTrees {
 public:
  explicit PointTrees(const space::Space& space) : space_(space) {}
  // Valid until `make_room` is called.
  const features::LoopTree* tree(const space::Point& point);
  // Forgets all if there is not much room left.
  void make_room();

 private:
  const space::Space& space_;
  std::unordered_map<std::uint64_t, std::unique_ptr<const features::LoopTree>> trees_;
};

struct TreeGruParts {
  Objective objective = Objective::Rank;
  std::shared_ptr<PointTrees> trees;
  std::shared_ptr<const Prior> prior;
  std::uint64_t seed = 0;
};

class TreeGruLearner : public ResidualLearner {
 public:
  explicit TreeGruLearner(TreeGruParts parts);
  double typical_us() const override { return 90; }

 private:
  void train(std::span<const Lesson> lessons, std::span<const float> labels,
             std::span<const float> margins) override;
  void predict(std::span<const Query> queries, std::span<double> learnt) const override;

  TreeGruParts parts_;
  TreeGru network_;
  double scale_ = 1;  // of labels, by regression
};

}  // namespace attune::cost_model

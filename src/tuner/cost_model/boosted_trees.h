// Gradient-boosted regression trees. Training is XGBoost's, through its C interface, on one thread;
// what comes out is a flat table of complete trees that is evaluated without it, about a million
// rows a second. Same rows, same options: same trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attune::cost_model {

enum class Objective : std::uint8_t {
  Rank,        // rows of a group are put in the order of their labels, more is better
  Regression,  // labels are approached, by least squares
};

struct TrainingRows {
  std::size_t width = 0;
  std::span<const float> features;  // one row after the other
  std::span<const float> labels;
  std::span<const float> margins;         // what is known already of each row; may be empty
  std::span<const std::uint32_t> groups;  // rows of each group, in order; none: all in one group
};

struct BoostOptions {
  Objective objective = Objective::Regression;
  int rounds = 60;  // one tree each
  int depth = 3;
  double eta = 0.3;
  double lambda = 1.0;            // ridge of the leaves
  double min_child_weight = 1.0;  // rows (regression) that a leaf must hold
  double column_share = 1.0;      // of the features, drawn for each tree
  std::uint64_t seed = 0;
};

class BoostedTrees {
 public:
  // No trees: predicts 0.
  BoostedTrees() = default;
  static BoostedTrees train(const TrainingRows& rows, const BoostOptions& options);

  // What the trees add to the margin of this row.
  float predict(const float* row) const;
  std::size_t size() const { return leaves_.size() >> depth_; }

 private:
  struct Split {
    std::uint32_t feature = 0;
    float threshold = 0;  // below: left
  };

  int depth_ = 0;
  std::vector<Split> splits_;  // 2^depth - 1 for each tree, top down
  std::vector<float> leaves_;  // 2^depth for each tree
};

}  // namespace attune::cost_model

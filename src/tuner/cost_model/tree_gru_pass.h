// One pass of TreeGru through a batch of trees, forwards and backwards. Nodes of all trees lie side
// by side, those with the same height together, so that each step is a product of matrices.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tuner/features/loop_tree.h"

namespace attune::cost_model {

inline constexpr std::size_t kTreeGruState = 16, kTreeGruSlots = 4;

std::size_t tree_gru_parameters(std::size_t width);
// Offsets of the weights among the parameters that are drawn at random, with their fan-in and
// fan-out; biases, which start as zero, are what lies between.
struct TreeGruWeights {
  std::size_t at, rows, columns;
};
std::vector<TreeGruWeights> tree_gru_weights(std::size_t width);

class TreeGruPass {
 public:
  // Numbers of loops are centred by `mean` and multiplied by `scale`.
  TreeGruPass(std::span<const features::LoopTree* const> trees, std::span<const float> mean,
              std::span<const float> scale);
  ~TreeGruPass();

  // The output of each tree.
  std::vector<float> forward(const std::vector<float>& parameters);
  // Adds the derivatives by the parameters, given those by the outputs, to `gradient`. After
  // `forward` with the same parameters.
  void backward(const std::vector<float>& parameters, std::span<const float> by_output,
                std::vector<float>& gradient);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attune::cost_model

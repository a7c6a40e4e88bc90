// A recurrent network over the loop tree of a schedule (TreeGRU of AutoTVM, Chen et al. 2018): the
// context vector of every loop is embedded, gated recurrent units carry what is inside of a loop
// outwards, the states of all loops are scattered into memory slots by a softmax, and a linear head
// reads the slots. Small, trained on one thread from nothing each time; same samples, same seed:
// same network.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tuner/cost_model/boosted_trees.h"
#include "tuner/features/loop_tree.h"

namespace attune::cost_model {

struct TreeSample {
  const features::LoopTree* tree = nullptr;
  float label = 0;
  float margin = 0;  // what is known already; the network learns what is to be added
};

class TreeGru {
 public:
  // `width` numbers are known of each loop.
  TreeGru(std::size_t width, std::uint64_t seed);

  // Adam on mini-batches, a fixed amount of work for any number of samples. What was learnt before
  // is forgotten.
  void train(std::span<const TreeSample> samples, Objective objective);
  void predict(std::span<const features::LoopTree* const> trees, std::span<double> outputs) const;

  // The mean loss (squares, or of pairs in the wrong order), and its derivatives by the parameters
  // where these are wanted.
  double loss(std::span<const TreeSample> samples, Objective objective,
              std::vector<float>* gradient) const;
  std::vector<float>& parameters() { return parameters_; }

 private:
  void draw_parameters();
  void learn_scales(std::span<const TreeSample> samples);

  std::size_t width_;
  std::uint64_t seed_;
  std::vector<float> parameters_;
  std::vector<float> mean_, scale_;  // of each number of a loop
};

}  // namespace attune::cost_model

#include "tuner/cost_model/tree_gru.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/rng.h"
#include "tuner/cost_model/tree_gru_pass.h"

namespace attune::cost_model {
namespace {

constexpr std::size_t kBatch = 32;
constexpr std::size_t kSampleVisits = 5000;  // of a training: epochs times samples
constexpr std::size_t kMostEpochs = 80;
constexpr double kFirstRate = 0.015, kLastRate = 0.001;

// Adam (Kingma and Ba 2015).
class Adam {
 public:
  explicit Adam(std::size_t size) : mean_(size), square_(size) {}
  void step(std::vector<float>& parameters, const std::vector<float>& gradient, double rate) {
    ++steps_;
    const double up_mean = 1 / (1 - std::pow(kMean, steps_));
    const double up_square = 1 / (1 - std::pow(kSquare, steps_));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const auto by = static_cast<double>(gradient[i]);
      mean_[i] = kMean * mean_[i] + (1 - kMean) * by;
      square_[i] = kSquare * square_[i] + (1 - kSquare) * by * by;
      parameters[i] -= static_cast<float>(rate * mean_[i] * up_mean /
                                          (std::sqrt(square_[i] * up_square) + 1e-8));
    }
  }

 private:
  static constexpr double kMean = 0.9, kSquare = 0.99;
  int steps_ = 0;
  std::vector<double> mean_, square_;
};

std::vector<const features::LoopTree*> trees_of(std::span<const TreeSample> samples) {
  std::vector<const features::LoopTree*> trees;
  for (const TreeSample& sample : samples) trees.push_back(sample.tree);
  return trees;
}

// The loss of outputs, and its derivatives by them.
double squares(std::span<const TreeSample> samples, const std::vector<float>& outputs,
               std::vector<float>& by_output) {
  double loss = 0;
  const auto count = static_cast<float>(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const float error = samples[i].margin + outputs[i] - samples[i].label;
    loss += static_cast<double>(error * error / count);
    by_output[i] = 2 * error / count;
  }
  return loss;
}

double pairs(std::span<const TreeSample> samples, const std::vector<float>& outputs,
             std::vector<float>& by_output) {
  double loss = 0, count = 0;
  std::vector<double> by(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t j = 0; j < samples.size(); ++j) {
      if (!(samples[i].label > samples[j].label)) continue;
      const double lead = static_cast<double>(samples[i].margin + outputs[i]) -
                          static_cast<double>(samples[j].margin + outputs[j]);
      loss += lead > 0 ? std::log1p(std::exp(-lead)) : std::log1p(std::exp(lead)) - lead;
      const double pull = 1 / (1 + std::exp(lead));
      by[i] -= pull;
      by[j] += pull;
      count += 1;
    }
  }
  if (count == 0) return 0;
  for (std::size_t i = 0; i < samples.size(); ++i) by_output[i] = static_cast<float>(by[i] / count);
  return loss / count;
}

}  // namespace

TreeGru::TreeGru(std::size_t width, std::uint64_t seed)
    : width_(width), seed_(seed), mean_(width, 0), scale_(width, 1) {
  draw_parameters();
}

void TreeGru::draw_parameters() {
  Rng rng(seed_);
  parameters_.assign(tree_gru_parameters(width_), 0);
  for (const TreeGruWeights& weights : tree_gru_weights(width_)) {
    const double bound = std::sqrt(6.0 / static_cast<double>(weights.rows + weights.columns));
    for (std::size_t i = 0; i < weights.rows * weights.columns; ++i) {
      parameters_[weights.at + i] = static_cast<float>(bound * (2 * rng.uniform() - 1));
    }
  }
}

void TreeGru::learn_scales(std::span<const TreeSample> samples) {
  std::vector<double> sum(width_), square(width_);
  double nodes = 0;
  for (const TreeSample& sample : samples) {
    for (std::size_t n = 1; n < sample.tree->size(); ++n, nodes += 1) {
      for (std::size_t i = 0; i < width_; ++i) {
        const auto value = static_cast<double>(sample.tree->context[n * width_ + i]);
        sum[i] += value;
        square[i] += value * value;
      }
    }
  }
  for (std::size_t i = 0; i < width_ && nodes > 0; ++i) {
    const double mean = sum[i] / nodes;
    const double variance = std::max(square[i] / nodes - mean * mean, 0.0);
    mean_[i] = static_cast<float>(mean);
    scale_[i] = static_cast<float>(1 / std::max(std::sqrt(variance), 1e-3));
  }
}

double TreeGru::loss(std::span<const TreeSample> samples, Objective objective,
                     std::vector<float>* gradient) const {
  const auto trees = trees_of(samples);
  TreeGruPass pass(trees, mean_, scale_);
  const auto outputs = pass.forward(parameters_);
  std::vector<float> by_output(samples.size());
  const double loss = objective == Objective::Rank ? pairs(samples, outputs, by_output)
                                                   : squares(samples, outputs, by_output);
  if (gradient) {
    gradient->assign(parameters_.size(), 0);
    pass.backward(parameters_, by_output, *gradient);
  }
  return loss;
}

void TreeGru::train(std::span<const TreeSample> samples, Objective objective) {
  CHECK(!samples.empty(), "there is nothing to learn from");
  draw_parameters();
  learn_scales(samples);
  Rng rng(seed_ + 1);
  Adam adam(parameters_.size());
  std::vector<TreeSample> order(samples.begin(), samples.end());
  std::vector<float> gradient;
  const std::size_t epochs = std::clamp<std::size_t>(kSampleVisits / order.size(), 1, kMostEpochs);
  for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
    const double done = static_cast<double>(epoch) / static_cast<double>(epochs);
    const double rate = kFirstRate * std::pow(kLastRate / kFirstRate, done);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    for (std::size_t first = 0; first < order.size(); first += kBatch) {
      const std::size_t count = std::min(kBatch, order.size() - first);
      if (count < 2 && order.size() > 1) continue;
      loss({&order[first], count}, objective, &gradient);
      adam.step(parameters_, gradient, rate);
    }
  }
}

void TreeGru::predict(std::span<const features::LoopTree* const> trees,
                      std::span<double> outputs) const {
  constexpr std::size_t kAtOnce = 64;
  for (std::size_t first = 0; first < trees.size(); first += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, trees.size() - first);
    TreeGruPass pass(trees.subspan(first, count), mean_, scale_);
    const auto some = pass.forward(parameters_);
    std::copy(some.begin(), some.end(), outputs.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

}  // namespace attune::cost_model

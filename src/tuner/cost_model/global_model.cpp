#include "tuner/cost_model/global_model.h"

#include <algorithm>
#include <cmath>

namespace attune::cost_model {
namespace {

constexpr std::size_t kMostRows = 6000;
// A prediction that is further off than this says nothing about the next task.
constexpr double kLargestError = 1.0;

// Rows of a group to learn from: all, or evenly spaced ones.
std::vector<std::size_t> chosen_rows(std::size_t count, std::size_t most) {
  std::vector<std::size_t> rows;
  const std::size_t wanted = std::min(count, most);
  for (std::size_t i = 0; i < wanted; ++i) rows.push_back(i * count / wanted);
  return rows;
}

double mean_error(const History::Group& group, const std::vector<std::size_t>& rows) {
  double sum = 0;
  for (std::size_t i : rows) sum += static_cast<double>(group.log_ratio[i] - group.analytic[i]);
  return sum / static_cast<double>(rows.size());
}

}  // namespace

std::shared_ptr<const GlobalModel> GlobalModel::train(const History& history, std::size_t width,
                                                      std::uint64_t seed) {
  std::vector<float> features, labels;
  const std::size_t share = std::max(kMostRows / std::max<std::size_t>(history.groups().size(), 1),
                                     History::kLeastOfGroup);
  for (const History::Group& group : history.groups()) {
    if (group.width != width || group.log_ratio.size() < History::kLeastOfGroup) continue;
    const auto rows = chosen_rows(group.log_ratio.size(), share);
    const double mean = mean_error(group, rows);
    for (std::size_t i : rows) {
      const auto first = group.features.begin() + static_cast<std::ptrdiff_t>(i * width);
      features.insert(features.end(), first, first + static_cast<std::ptrdiff_t>(width));
      const double error = static_cast<double>(group.log_ratio[i] - group.analytic[i]) - mean;
      labels.push_back(static_cast<float>(std::clamp(error, -kLargestError, kLargestError)));
    }
  }
  if (labels.empty()) return nullptr;
  BoostOptions options;
  options.rounds = 80;
  options.depth = 4;
  options.eta = 0.15;
  options.min_child_weight = 8;
  options.seed = seed;
  auto model = std::make_shared<GlobalModel>();
  model->trees_ = BoostedTrees::train({width, features, labels, {}, {}}, options);
  return model;
}

double GlobalModel::correction(const float* features) const {
  return static_cast<double>(trees_.predict(features));
}

}  // namespace attune::cost_model

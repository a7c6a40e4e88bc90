#include "compiler/frontend/onnx/resize_tables.h"

#include <algorithm>
#include <cmath>

namespace attune::onnx {
namespace {

// Where output element i lies between the input elements.
double original_place(const ResizeRules& rules, const ResizeAxis& axis, double i) {
  const auto size = static_cast<double>(axis.size);
  const double result = axis.scale * size;  // not rounded
  const double half_pixel = (i + 0.5) / axis.scale - 0.5;
  if (rules.coordinates == "asymmetric") return i / axis.scale;
  if (rules.coordinates == "align_corners") {
    return result == 1 ? 0 : i * (size - 1) / (result - 1);
  }
  if (rules.coordinates == "pytorch_half_pixel") return axis.result == 1 ? -0.5 : half_pixel;
  if (rules.coordinates == "tf_half_pixel_for_nn") return (i + 0.5) / axis.scale;
  if (rules.coordinates == "half_pixel_symmetric") {
    const double adjustment = static_cast<double>(axis.result) / result;
    return size / 2 * (1 - adjustment) + half_pixel;
  }
  if (rules.coordinates == "tf_crop_and_resize") {
    const double width = axis.roi_end - axis.roi_start;
    const double start = axis.roi_start * (size - 1);
    return axis.result == 1 ? start + width * (size - 1) / 2
                            : start + i * width * (size - 1) / (result - 1);
  }
  return half_pixel;
}

double cubic(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

bool prefers_upper(const ResizeRules& rules, double ratio, double scale) {
  if (ratio == 1) return true;  // exactly on an element
  if (rules.nearest == "floor") return false;
  if (rules.nearest == "ceil") return true;
  if (rules.nearest == "simple") return scale < 1;
  return rules.nearest == "round_prefer_ceil" ? ratio >= 0.5 : ratio > 0.5;
}

// Weights of the elements from `first` (relative to the one below) on; `ratio` in (0, 1] is the
// distance from the one below.
struct Weights {
  std::int64_t first;
  std::vector<double> values;
};

Weights weights_at(const ResizeRules& rules, double ratio, double scale) {
  if (rules.mode == "nearest") {
    return {prefers_upper(rules, ratio, scale) ? 1 : 0, {1}};
  }
  const double reach = rules.mode == "linear" ? 1 : 2;
  const double shrink = rules.antialias ? std::min(scale, 1.0) : 1;
  const auto first = static_cast<std::int64_t>(std::floor(-reach / shrink)) + 1;
  Weights weights{first, {}};
  double sum = 0;
  for (std::int64_t i = first; i < 2 - first; ++i) {
    const double distance = (static_cast<double>(i) - ratio) * shrink;
    weights.values.push_back(rules.mode == "linear" ? std::max(0.0, 1 - std::abs(distance))
                                                    : cubic(distance, rules.cubic_a));
    sum += weights.values.back();
  }
  if (rules.antialias) {
    for (double& weight : weights.values) weight /= sum;
  }
  return weights;
}

void exclude_outside(std::vector<double>& weights, std::int64_t first, std::int64_t size) {
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::int64_t place = first + static_cast<std::int64_t>(i);
    if (place < 0 || place >= size) weights[i] = 0;
    sum += weights[i];
  }
  for (double& weight : weights) weight /= sum;
}

}  // namespace

ResizeTable resize_table(const ResizeRules& rules, const ResizeAxis& axis) {
  ResizeTable table;
  for (std::int64_t i = 0; i < axis.result; ++i) {
    const double place = original_place(rules, axis, static_cast<double>(i));
    const bool crops = rules.coordinates == "tf_crop_and_resize";
    table.outside.push_back(crops && (place < 0 || place > static_cast<double>(axis.size - 1)));
    // The element below, strictly: one that is met exactly counts as the upper one.
    const double below = std::ceil(place) - 1;
    Weights weights = weights_at(rules, place - below, axis.scale);
    const std::int64_t first = static_cast<std::int64_t>(below) + weights.first;
    if (rules.exclude_outside) exclude_outside(weights.values, first, axis.size);
    table.taps = static_cast<std::int64_t>(weights.values.size());
    for (std::int64_t tap = 0; tap < table.taps; ++tap) {
      table.places.push_back(std::clamp<std::int64_t>(first + tap, 0, axis.size - 1));
      table.weights.push_back(weights.values[static_cast<std::size_t>(tap)]);
    }
  }
  return table;
}

}  // namespace attune::onnx

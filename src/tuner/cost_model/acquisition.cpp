#include "tuner/cost_model/acquisition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <numbers>

namespace attune::cost_model {
namespace {

constexpr std::array<std::string_view, 3> kNames{"mean", "optimism", "improvement"};
// Keeps points in order that no improvement is expected of.
constexpr double kHopelessSlope = 1e-3;

double expected_improvement(double mean, double deviation, double best) {
  if (deviation <= 0) return std::max(0.0, best - mean);
  const double z = (best - mean) / deviation;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  return deviation * (z * below + density);
}

}  // namespace

Result<Acquisition> parse_acquisition(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Acquisition>(i);
  }
  return invalid(fmt::format("unknown acquisition '{}'", name),
                 fmt::format("acquisitions are {}", fmt::join(kNames, ", ")));
}

double AcquisitionRule::score(double mean, double deviation, double best) const {
  if (kind == Acquisition::Mean) return mean;
  if (kind == Acquisition::Optimism) return mean - optimism * deviation;
  return kHopelessSlope * mean - expected_improvement(mean, deviation, best);
}

}  // namespace attune::cost_model

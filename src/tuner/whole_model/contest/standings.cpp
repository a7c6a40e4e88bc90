#include "tuner/whole_model/contest/standings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace attune::whole_model {
namespace {

constexpr double kAsFast = 0.01;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

Interval median_interval(std::vector<double> values, double deviations) {
  const auto count = static_cast<double>(values.size());
  const double outside = std::floor((count - deviations * std::sqrt(count)) / 2);
  if (outside < 0) return {0, std::numeric_limits<double>::infinity()};
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(outside);
  return {values[rank], values[values.size() - 1 - rank]};
}

Standing standing_of(std::span<const double> one, std::span<const double> other,
                     double deviations) {
  const std::size_t rounds = std::min(one.size(), other.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rounds; ++i) ratios.push_back(one[i] / other[i]);
  const Interval ratio = median_interval(std::move(ratios), deviations);
  if (ratio.high < 1) return Standing::Faster;
  if (ratio.low > 1) return Standing::Slower;
  return ratio.high < 1 + kAsFast ? Standing::AsFast : Standing::Open;
}

Standings::Standings(std::size_t runners) : samples_ms_(runners), running_(runners) {
  std::iota(running_.begin(), running_.end(), 0);
}

bool Standings::is_beaten(std::size_t runner) const {
  return std::any_of(running_.begin(), running_.end(), [&](std::size_t other) {
    return standing_of(samples_ms_[runner], samples_ms_[other], kOnceInAThousand) ==
           Standing::Slower;
  });
}

void Standings::drop_beaten() {
  std::vector<std::size_t> unbeaten;
  for (const std::size_t runner : running_) {
    if (!is_beaten(runner)) unbeaten.push_back(runner);
  }
  // Three may beat each other in a ring.
  if (!unbeaten.empty()) running_ = std::move(unbeaten);
}

double Standings::median_ms(std::size_t runner) const { return median(samples_ms_[runner]); }

std::size_t Standings::challenger() const {
  std::size_t fastest = 0;
  for (const std::size_t runner : running_) {
    if (runner == 0) continue;
    if (fastest == 0 || median_ms(runner) < median_ms(fastest)) fastest = runner;
  }
  return fastest;
}

std::size_t Standings::winner(bool exact) const {
  if (running_.front() != 0) return challenger();
  std::size_t best = 0;
  for (const std::size_t runner : running_) {
    const bool beats_first =
        exact ? median_ms(runner) < median_ms(0) : standing(runner, 0) == Standing::Faster;
    if (beats_first && (best == 0 || median_ms(runner) < median_ms(best))) best = runner;
  }
  return best;
}

std::size_t Standings::winner_as_promised(double promised) const {
  constexpr double kPromise = 0.97;
  const std::size_t sure = winner(), other = challenger();
  if (sure != 0 || other == 0 || promised > kPromise) return sure;
  if (standing(0, other) != Standing::Open) return sure;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rounds(); ++i) {
    ratios.push_back(samples_ms_[other][i] / samples_ms_[0][i]);
  }
  return median(std::move(ratios)) < 1 - kAsFast ? other : 0;
}

bool Standings::is_decided() const {
  const std::size_t other = challenger();
  return running_.front() != 0 || other == 0 || standing(0, other) != Standing::Open;
}

bool Standings::is_ranked() const {
  if (!is_decided()) return false;
  const std::size_t best = winner();
  if (best == 0) return true;
  return std::none_of(running_.begin(), running_.end(), [&](std::size_t other) {
    return other != best && standing(best, other) == Standing::Open;
  });
}

}  // namespace attune::whole_model

#include "tuner/whole_model/contest/standings.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace attune::whole_model {
namespace {

// Of the sign test: how many deviations from an even share of signs are beyond doubt.
constexpr double kDeviations = 2.6;
constexpr double kEqual = 0.01;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

Interval median_interval(std::vector<double> values) {
  const auto count = static_cast<double>(values.size());
  const double outside = std::floor((count - kDeviations * std::sqrt(count)) / 2);
  if (outside < 0) return {0, std::numeric_limits<double>::infinity()};
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(outside);
  return {values[rank], values[values.size() - 1 - rank]};
}

Standing standing_of(std::span<const double> one, std::span<const double> other) {
  CHECK(one.size() == other.size(), "both were in every round");
  std::vector<double> ratios;
  for (std::size_t i = 0; i < one.size(); ++i) ratios.push_back(one[i] / other[i]);
  const Interval ratio = median_interval(std::move(ratios));
  if (ratio.high < 1) return Standing::Faster;
  if (ratio.low > 1) return Standing::Slower;
  return ratio.low > 1 - kEqual && ratio.high < 1 + kEqual ? Standing::Equal : Standing::Open;
}

void Standings::add_round(std::span<const double> samples_ms) {
  CHECK(samples_ms.size() == samples_ms_.size(), "all were in the round");
  for (std::size_t i = 0; i < samples_ms.size(); ++i) samples_ms_[i].push_back(samples_ms[i]);
}

double Standings::median_ms(std::size_t runner) const { return median(samples_ms_[runner]); }

std::size_t Standings::challenger() const {
  std::size_t fastest = samples_ms_.size() > 1 ? 1 : 0;
  for (std::size_t i = 2; i < samples_ms_.size(); ++i) {
    if (median_ms(i) < median_ms(fastest)) fastest = i;
  }
  return fastest;
}

std::size_t Standings::winner(bool exact) const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < samples_ms_.size(); ++i) {
    const bool beats_first = exact
                                 ? median_ms(i) < median_ms(0)
                                 : standing_of(samples_ms_[i], samples_ms_[0]) == Standing::Faster;
    if (beats_first && (best == 0 || median_ms(i) < median_ms(best))) best = i;
  }
  return best;
}

bool Standings::is_decided() const {
  const std::size_t other = challenger();
  return other != 0 && standing_of(samples_ms_[other], samples_ms_[0]) != Standing::Open;
}

bool Standings::is_ranked() const {
  if (!is_decided()) return false;
  const std::size_t best = winner();
  if (best == 0) return true;
  for (std::size_t i = 1; i < samples_ms_.size(); ++i) {
    if (i == best) continue;
    if (standing_of(samples_ms_[i], samples_ms_[best]) == Standing::Open) return false;
  }
  return true;
}

}  // namespace attune::whole_model

#include "tuner/explore/batch.h"

namespace attune::explore {
namespace {

std::uint64_t key(const space::Point& point, std::size_t knob) {
  return (std::uint64_t{point.alternative} << 48) | (std::uint64_t{knob} << 32) |
         point.choices[knob];
}

}  // namespace

void BatchPicker::include(const space::Point& point) {
  for (std::size_t k = 0; k < point.choices.size(); ++k) included_.insert(key(point, k));
}

double BatchPicker::bonus(const space::Point& point) const {
  double sum = 0;
  for (std::size_t k = 0; k < point.choices.size(); ++k) {
    if (!included_.contains(key(point, k))) sum += new_choice_;
  }
  return sum;
}

const space::Point* BatchPicker::next() {
  Candidate* best = nullptr;
  double best_score = 0;
  for (Candidate& candidate : pool_) {
    if (candidate.gone) continue;
    const double score = candidate.score - bonus(candidate.point);
    if (!best || score < best_score) best = &candidate, best_score = score;
  }
  if (!best) return nullptr;
  best->gone = true;
  return &best->point;
}

}  // namespace attune::explore

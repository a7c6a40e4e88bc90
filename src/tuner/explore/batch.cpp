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
  Choice* best = nullptr;
  double best_score = 0;
  for (Choice& choice : pool_) {
    if (choice.gone) continue;
    const double score = choice.score - bonus(choice.point);
    if (!best || score < best_score) best = &choice, best_score = score;
  }
  if (!best) return nullptr;
  best->gone = true;
  return &best->point;
}

}  // namespace attune::explore

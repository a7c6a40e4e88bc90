#include "tuner/explore/scorer.h"

#include <algorithm>

namespace attune::explore {

std::vector<std::optional<double>> Scorer::score(std::span<const space::Point> points) {
  std::vector<cost_model::Query> queries;
  std::vector<std::uint64_t> keys(points.size()), asked;
  std::vector<const space::Point*> fresh;
  for (std::size_t i = 0; i < points.size(); ++i) {
    keys[i] = space::hash(points[i]);
    if (!known_.contains(keys[i])) fresh.push_back(&points[i]);
  }
  ledger_.foresee(fresh);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto [at, is_new] = known_.emplace(keys[i], std::nullopt);
    if (!is_new) continue;
    if (const auto us = ledger_.predicted_us(points[i])) {
      queries.push_back({&points[i], *us});
      asked.push_back(keys[i]);
    }
  }
  std::vector<double> scores(queries.size());
  if (!queries.empty()) learner_.score(queries, scores);
  asked_ += queries.size();
  for (std::size_t i = 0; i < asked.size(); ++i) known_[asked[i]] = scores[i];
  std::vector<std::optional<double>> result;
  result.reserve(points.size());
  for (const std::uint64_t key : keys) result.push_back(known_.at(key));
  return result;
}

void Pool::lead(const space::Point& point, double score) {
  std::vector<Scored>& leaders = leaders_[point.alternative];
  if (leaders.size() == kLeaders && score >= leaders.back().score) return;
  const bool there = std::any_of(leaders.begin(), leaders.end(),
                                 [&](const Scored& leader) { return leader.point == point; });
  if (there || ledger_.gone(point)) return;
  const auto place =
      std::upper_bound(leaders.begin(), leaders.end(), score,
                       [](double value, const Scored& leader) { return value < leader.score; });
  leaders.insert(place, {point, score});
  if (leaders.size() > kLeaders) leaders.pop_back();
}

bool Pool::add(const space::Point& point, double score) {
  lead(point, score);
  if (capacity_ == 0) return false;
  if (heap_.size() == capacity_ && score >= heap_.front().scored.score) return false;
  if (!seen_.insert(space::hash(point)).second || ledger_.gone(point)) return false;
  if (heap_.size() == capacity_) {
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
  }
  heap_.push_back({{point, score}, count_++});
  std::push_heap(heap_.begin(), heap_.end());
  return true;
}

std::vector<Scored> Pool::take() {
  std::sort_heap(heap_.begin(), heap_.end());
  std::vector<Scored> best;
  for (Member& member : heap_) best.push_back(std::move(member.scored));
  heap_.clear();
  return best;
}

}  // namespace attune::explore

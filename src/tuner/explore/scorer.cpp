#include "tuner/explore/scorer.h"

#include <algorithm>

namespace attune::explore {

std::vector<std::optional<double>> Scorer::score(std::span<const space::Point> points) {
  std::vector<model::Query> queries;
  std::vector<std::uint64_t> keys(points.size()), asked;
  for (std::size_t i = 0; i < points.size(); ++i) {
    keys[i] = space::hash(points[i]);
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

bool Pool::add(const space::Point& point, double score) {
  const auto leader = leaders_.find(point.alternative);
  if ((leader == leaders_.end() || score < leader->second.score) && !ledger_.gone(point)) {
    leaders_.insert_or_assign(point.alternative, Scored{point, score});
  }
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

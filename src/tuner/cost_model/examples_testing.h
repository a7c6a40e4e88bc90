// Candidates of a space with made-up times, and how well a learner puts them in order.
#pragma once

#include <cmath>
#include <vector>

#include "base/rng.h"
#include "tuner/cost_model/learner.h"

namespace attune::cost_model {

// The time of a point, in microseconds.
using TimeOf = double (*)(const space::Space& space, const space::Point& point);

inline std::vector<space::Candidate> random_examples(const space::Space& space, std::size_t count,
                                                     std::uint64_t seed, TimeOf predicted_us,
                                                     TimeOf measured_us) {
  Rng rng(seed);
  std::vector<space::Candidate> examples;
  while (examples.size() < count) {
    const auto point = space.sample(rng);
    if (!space.schedule_of(point).ok()) continue;
    examples.push_back({.trace = {},
                        .point = point,
                        .predicted_us = predicted_us(space, point),
                        .time_us = measured_us(space, point)});
  }
  return examples;
}

inline std::vector<double> scores_of(const Learner& learner,
                                     const std::vector<space::Candidate>& points,
                                     bool acquire = false) {
  std::vector<Query> queries;
  for (const space::Candidate& e : points) queries.push_back({&*e.point, e.predicted_us});
  std::vector<double> scores(queries.size());
  acquire ? learner.acquire(queries, scores) : learner.score(queries, scores);
  return scores;
}

// The share of pairs with different times that have their scores in the same order.
inline double pair_accuracy(const std::vector<double>& scores,
                            const std::vector<space::Candidate>& points) {
  double right = 0, pairs = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double difference = *points[i].time_us - *points[j].time_us;
      if (std::abs(difference) < 1e-6) continue;
      right += (scores[i] > scores[j]) == (difference > 0) ? 1 : 0;
      pairs += 1;
    }
  }
  return right / pairs;
}

}  // namespace attune::cost_model

// What learners take of the examples: a bounded number, so that training never outgrows measuring,
// with the log of the time of each; failures are slower than all that ran.
#pragma once

#include <span>
#include <vector>

#include "tuner/cost_model/learner.h"

namespace attune::cost_model {

struct Lesson {
  const Example* example = nullptr;
  double log_us = 0;
};

// Up to `most` lessons in the order of the examples: the fastest half, and of the others evenly
// spaced ones. None when nothing ran.
std::vector<Lesson> lessons_of(std::span<const Example> examples, std::size_t most);

}  // namespace attune::cost_model

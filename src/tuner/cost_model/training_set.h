// What learners take of what was tried: a bounded number, so that training never outgrows
// measuring, with the log of the time of each; failures are slower than all that ran.
#pragma once

#include <span>
#include <vector>

#include "tuner/cost_model/learner.h"

namespace attune::cost_model {

struct Lesson {
  const space::Candidate* candidate = nullptr;
  double log_us = 0;
};

// Up to `most` lessons in the order of the candidates: the fastest half, and of the others evenly
// spaced ones. None when nothing ran.
std::vector<Lesson> lessons_of(std::span<const space::Candidate> tried, std::size_t most);

}  // namespace attune::cost_model

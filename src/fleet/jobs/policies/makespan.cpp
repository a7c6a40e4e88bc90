// Longest remaining processing time first: near the lower bound of the whole, and robust against
// predictions that are off by half. Among jobs with about as much to come, one that goes on on the
// resource where it just was: it needs the other one the sooner, and the two do not meet on the
// same one again and again. Jobs of unknown length come first, lest a long one begins late.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {
namespace {

constexpr double kLeastSeconds = 1e-3;

// Jobs within one power of two count as equally long.
double length_class(double remaining_seconds) {
  if (remaining_seconds < 0) return std::numeric_limits<double>::infinity();
  return std::floor(std::log2(std::max(remaining_seconds, kLeastSeconds)));
}

}  // namespace

std::optional<Rank> rank_makespan(const View& view, const StageView& stage) {
  const double remaining = view.jobs[stage.job].remaining_seconds;
  if (remaining < 0) return Rank{-length_class(remaining), stage.ready_at, 0.0};
  return Rank{-length_class(remaining), stage.continues ? 0.0 : 1.0, -remaining};
}

}  // namespace attune::jobs

#include <algorithm>

#include "fleet/jobs/scheduler/view.h"

namespace attune::jobs {

void CoLocation::forbid(std::uint32_t a, std::uint32_t b) {
  if (allowed(a, b)) forbidden_.push_back(std::minmax(a, b));
}

bool CoLocation::allowed(std::uint32_t a, std::uint32_t b) const {
  const std::pair<std::uint32_t, std::uint32_t> pair = std::minmax(a, b);
  return std::find(forbidden_.begin(), forbidden_.end(), pair) == forbidden_.end();
}

}  // namespace attune::jobs

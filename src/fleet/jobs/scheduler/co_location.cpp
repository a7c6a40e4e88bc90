#include <algorithm>

#include "fleet/jobs/scheduler/view.h"

namespace attune::jobs {

void CoLocation::forbid(std::uint32_t a, std::uint32_t b) { forbidden_.insert(std::minmax(a, b)); }

bool CoLocation::allowed(std::uint32_t a, std::uint32_t b) const {
  return forbidden_.count(std::minmax(a, b)) == 0;
}

}  // namespace attune::jobs

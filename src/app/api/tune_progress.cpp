#include "app/api/tune_progress.h"

#include <algorithm>

namespace attune::api {

std::size_t TuneProgress::settled() const {
  return static_cast<std::size_t>(std::count_if(
      tasks.begin(), tasks.end(), [](const TaskProgress& one) { return one.settled; }));
}

}  // namespace attune::api

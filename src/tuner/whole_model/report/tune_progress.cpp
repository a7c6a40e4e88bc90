#include "tuner/whole_model/report/tune_progress.h"

#include <algorithm>

namespace attune::whole_model {

std::size_t TuneProgress::settled() const {
  return static_cast<std::size_t>(std::count_if(
      tasks.begin(), tasks.end(), [](const TaskProgress& one) { return one.settled; }));
}

}  // namespace attune::whole_model

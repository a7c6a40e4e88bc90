#include "fleet/jobs/policies/policies.h"

namespace attune::jobs {
namespace {

// A job that is not running has a stage ready; when nothing runs, all of them have.
std::optional<Rank> rank(const View& view, const StageView& stage) {
  if (!view.running.empty()) return std::nullopt;
  return by_arrival(stage);
}

}  // namespace

Policy synchronised_policy() {
  return {.name = "synchronised",
          .summary = "stages of all jobs start together",
          .rank = rank,
          .coordinated = false};
}

}  // namespace attune::jobs

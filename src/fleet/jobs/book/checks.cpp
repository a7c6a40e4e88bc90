#include "fleet/jobs/book/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attune::jobs {
namespace {

// Sums of such numbers are still exact to a fraction of a second.
constexpr double kMostSeconds = 1e7, kMostStages = 1e7;

bool is_within(double value, double most) { return value >= 0 && value <= most; }  // nor a NaN

}  // namespace

Status check_numbers(const v1::JobSpec& spec) {
  const auto bad = [](double value) { return !std::isfinite(value) || value < 0; };
  if (bad(spec.priority())) {
    return invalid(fmt::format("the priority is {}, must be positive", spec.priority()));
  }
  if (spec.trials() < 0 || bad(spec.seconds()) || bad(spec.until_latency_ms())) {
    return invalid("the budget is negative", "give --trials, --seconds or --until-latency above 0");
  }
  if (spec.threads() < 0 || spec.prefetch() < 0) {
    return invalid("the number of threads or of batches in flight is negative");
  }
  return {};
}

Status check_kinds(const google::protobuf::RepeatedPtrField<v1::StageKind>& kinds) {
  for (const v1::StageKind& kind : kinds) {
    if (!is_within(kind.usual_seconds(), kMostSeconds)) {
      return invalid(fmt::format("stages '{}' usually take {} s, must be from 0 to {}", kind.name(),
                                 kind.usual_seconds(), kMostSeconds));
    }
    const bool unknown = std::isfinite(kind.left()) && kind.left() < 0;
    if (!unknown && !is_within(kind.left(), kMostStages)) {
      return invalid(fmt::format("of stages '{}' {} are to come, must be at most {}", kind.name(),
                                 kind.left(), kMostStages));
    }
  }
  return {};
}

Status check_finished(const v1::Finished& finished) {
  if (!v1::StageEnd_IsValid(finished.end())) {
    return invalid(fmt::format("there is no end {} of a stage", int(finished.end())));
  }
  if (!is_within(finished.seconds(), kMostSeconds)) {
    return invalid(
        fmt::format("the stage took {} s, must be from 0 to {}", finished.seconds(), kMostSeconds));
  }
  return {};
}

Status check_wish(v1::Wish wish) {
  if (v1::Wish_IsValid(wish)) return {};
  return invalid(fmt::format("there is no wish {}", int(wish)));
}

bool looks_like_id(const std::string& name) {
  return name.size() > 1 && name[0] == 'j' &&
         name.find_first_not_of("0123456789", 1) == std::string::npos;
}

}  // namespace attune::jobs

// The plan as JSON text, the form it has in an artifact.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/format/plan.h"

namespace attune::runtime {

std::string plan_to_json(const Plan& plan);
// Corrupt for text that is no plan: the message names the field. What comes back may still point
// anywhere; validate() decides that.
Result<Plan> plan_from_json(std::string_view text);

}  // namespace attune::runtime

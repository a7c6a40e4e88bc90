// Tasks of a model that were not compiled with the schedule chosen for them, for the reports of the
// commands that compile.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "app/deploy/fallback.h"

namespace attune::api {

using deploy::Fallback;
using Fallbacks = std::vector<Fallback>;

using deploy::describe;
using deploy::summarize;

// A list of objects with key, name, wanted, used and reason.
nlohmann::ordered_json fallbacks_json(const Fallbacks& fallbacks);

}  // namespace attune::api

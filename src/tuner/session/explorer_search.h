// Searches made of the explorers of tuner/explore.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "compiler/target/target.h"
#include "tuner/cost_model/history.h"
#include "tuner/explore/explorer.h"
#include "tuner/session/search.h"
#include "tuner/session/task.h"

namespace attune::session {

// An explorer over the templates that fit the task's algorithms, on the analytic model; owns all it
// needs. `target` must be resolved; `history` may be null.
Result<std::unique_ptr<Search>> make_template_search(
    const Task& task, const target::Target& target, const explore::SearchOptions& options,
    std::uint64_t seed, std::shared_ptr<const cost_model::History> history = nullptr);

}  // namespace attune::session

// A model against the interpreter: operator by operator on the graph as it was loaded, or, where
// that would take long and the model allows it, at sampled places.
#pragma once

#include "app/verbs/check/check.h"
#include "base/result.h"

namespace attune::verbs {

// `model` was loaded with the options of `source`. Fails with Unsupported for a model that would
// take the interpreter too long, or has control flow.
Result<CheckCase> check_model(model::LoadedModel model, const model::SourceOptions& source,
                              std::uint64_t seed);

}  // namespace attune::verbs

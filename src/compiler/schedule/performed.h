// Steps, and the state behind them where somebody performed them as they were written.
#pragma once

#include <optional>

#include "compiler/schedule/trace.h"

namespace attune::schedule {

struct Performed {
  Trace trace = {};
  std::optional<State> state = {};
};

}  // namespace attune::schedule

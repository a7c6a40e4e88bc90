#include "compiler/schedule/algorithm.h"

#include <variant>

#include "compiler/schedule/primitives.h"

namespace attune::schedule {

// The program was replaced before replay; the step only records which one it is made for.
Status apply_step(State&, const Algorithm&) { return {}; }

std::string algorithm_of(const Trace& trace) {
  const auto* step = trace.empty() ? nullptr : std::get_if<Algorithm>(&trace.front());
  return step == nullptr ? "direct" : step->name;
}

}  // namespace attune::schedule

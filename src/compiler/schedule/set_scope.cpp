#include <fmt/format.h>

#include <array>

#include "compiler/schedule/primitives.h"

namespace attune::schedule {
namespace {

constexpr std::array<std::pair<std::string_view, ir::Scope>, 4> kScopes{
    {{"global", ir::Scope::Global},
     {"stack", ir::Scope::Stack},
     {"register", ir::Scope::Register},
     {"shared", ir::Scope::Shared}}};

}  // namespace

Status require_private(const State& state, int stage, std::string_view what) {
  if (!state.is_output(stage)) return {};
  return invalid(fmt::format("stage '{}' is an output; {} is fixed by the operator",
                             state.stages[stage]->stage.name, what),
                 "use it on private stages");
}

Status apply_step(State& state, const SetScope& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  ATTUNE_RETURN_IF_ERROR(require_private(state, index, "its scope"));
  for (const auto& [name, scope] : kScopes) {
    if (name == step.scope) {
      state.edit(index).scope = scope;
      return {};
    }
  }
  return invalid(fmt::format("unknown memory scope '{}' for stage '{}'", step.scope, step.stage),
                 "scopes are global, stack, register, shared");
}

}  // namespace attune::schedule

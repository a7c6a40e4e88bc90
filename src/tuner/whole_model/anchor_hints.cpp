#include "tuner/whole_model/anchor_hints.h"

#include "tuner/logs/adapt.h"

namespace attune::whole_model {

Result<std::vector<schedule::Trace>> anchor_hints(records::Store& store, const session::Task& task,
                                                  const target::Target& target) {
  constexpr std::size_t kLookedAt = 4;
  const std::string anchor = logs::anchor_key(task.reference());
  if (anchor.empty()) return std::vector<schedule::Trace>();
  ATTUNE_ASSIGN(const std::vector<records::Hint> hints,
                store.hints({.anchor = anchor, .limit = kLookedAt}));
  if (hints.empty()) return std::vector<schedule::Trace>();
  std::vector<space::NamedProgram> programs;
  for (const session::Algorithm& algorithm : task.algorithms) {
    if (algorithm.competes) programs.push_back({algorithm.name, *algorithm.program});
  }
  return logs::adapt_hints(hints, programs, target);
}

}  // namespace attune::whole_model

#include "compiler/schedule/primitives.h"

#include <fmt/format.h>

#include <array>

namespace attune::schedule {
namespace {

struct Key {
  std::string_view name, values;
};
// What lowering reads. launder: between unrolled iterations the compiler forgets addresses; init:
// "select" starts a reduction by a select in its first iteration instead of a loop before it;
// prefetch: the loop asks for what it will read in the next iteration of a loop around it; claim:
// the loop takes possession of the memory that what follows it will write; skip: the stage leaves
// out what conditions on places make nothing of; bulk: a pipelined copy of one piece of memory is
// left to the device, by one thread of so many blocks that want the same.
constexpr std::array<Key, 8> kKeys{{{"launder", "on"},
                                    {"init", "select"},
                                    {"prefetch", "next"},
                                    {"claim", "stores"},
                                    {"skip", "masked"},
                                    {"bulk", "1"},
                                    {"bulk", "2"},
                                    {"bulk", "4"}}};

void set_note(Notes& notes, const std::string& key, const std::string& value) {
  for (auto& [name, old] : notes) {
    if (name == key) {
      old = value;
      return;
    }
  }
  notes.emplace_back(key, value);
}

}  // namespace

Status apply_step(State& state, const Annotate& step) {
  ATTUNE_ASSIGN(const int index, require_stage(state, step.stage));
  bool known = false;
  for (const Key& key : kKeys) known |= key.name == step.key && key.values == step.value;
  if (!known) {
    return invalid(
        fmt::format("unknown annotation '{} {}' on stage '{}'", step.key, step.value, step.stage),
        "annotations are 'launder on', 'init select', 'prefetch next', 'claim stores', 'skip "
        "masked' and 'bulk 1', 2 or 4");
  }
  if (step.loop == "*") {
    set_note(state.edit(index).notes, step.key, step.value);
    return {};
  }
  ATTUNE_ASSIGN(const int position, require_loop(*state.stages[index], step.loop));
  StageState& stage = state.edit(index);
  set_note(stage.iters[stage.loops[position]].notes, step.key, step.value);
  return {};
}

}  // namespace attune::schedule

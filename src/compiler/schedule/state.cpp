#include "compiler/schedule/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/check.h"
#include "compiler/ir/nodes/rewrite.h"

namespace attune::schedule {
namespace {

int axis_index(const ir::Stage& stage, const std::string& name) {
  int index = 0;
  for (const auto* axes : {&stage.axes, &stage.reduce_axes}) {
    for (const ir::Axis& axis : *axes) {
      if (axis.name == name) return index;
      ++index;
    }
  }
  return -1;
}

AccessDim access_dim(const ir::Stage& stage, const ir::Expr& index) {
  AccessDim dim;
  const auto linear = ir::linear_of(index);
  if (!linear) {
    dim.index = index;
    return dim;
  }
  for (const auto& [name, coefficient] : linear->terms) {
    const int axis = axis_index(stage, name);
    CHECK(axis >= 0, "stage " + stage.name + " reads with an index that is no axis of it");
    dim.terms.emplace_back(axis, coefficient);
  }
  dim.linear = true;
  dim.constant = linear->constant;
  return dim;
}

std::vector<Access> accesses_of(const ir::Stage& stage) {
  std::vector<Access> accesses;
  std::vector<ir::Expr> seen;
  for (const ir::Expr& value : stage.values) {
    ir::visit(value, [&](const ir::Expr& e) {
      const auto* load = ir::as<ir::Load>(e);
      if (!load) return;
      for (const ir::Expr& other : seen) {
        if (ir::equal(other, e)) return;
      }
      seen.push_back(e);
      Access access{load->buffer, {}};
      for (const ir::Expr& index : load->index) access.dims.push_back(access_dim(stage, index));
      accesses.push_back(std::move(access));
    });
  }
  return accesses;
}

}  // namespace

int StageState::find_loop(std::string_view name) const {
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (iters[static_cast<std::size_t>(loops[i])].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::string StageState::loop_names() const {
  std::string names;
  for (int loop : loops) {
    if (!names.empty()) names += ", ";
    names += iters[static_cast<std::size_t>(loop)].name;
  }
  return names;
}

bool StageState::untouched() const {
  const bool plain = std::all_of(iters.begin(), iters.end(), [](const Iter& iter) {
    return iter.kind == ir::LoopKind::Serial && iter.notes.empty();
  });
  return plain && relations.empty() && at_root() && !scope && layout.empty() &&
         padding.factor == 1 && gap == 0 && tensorized < 0 && notes.empty() &&
         std::is_sorted(loops.begin(), loops.end());
}

const std::string* find_note(const Notes& notes, std::string_view key) {
  for (const auto& [name, value] : notes) {
    if (name == key) return &value;
  }
  return nullptr;
}

int State::find(std::string_view stage) const {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i]->stage.name == stage) return static_cast<int>(i);
  }
  return -1;
}

int State::producer_of(const ir::Buffer& buffer) const {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (const ir::Buffer& output : stages[i]->stage.outputs) {
      if (output == buffer) return static_cast<int>(i);
    }
  }
  return -1;
}

std::vector<int> State::consumers_of(int stage) const {
  std::vector<int> consumers;
  const auto& made = stages[static_cast<std::size_t>(stage)]->stage.outputs;
  for (std::size_t i = static_cast<std::size_t>(stage) + 1; i < stages.size(); ++i) {
    const auto& accesses = stages[i]->accesses;
    const bool reads = std::any_of(accesses.begin(), accesses.end(), [&](const Access& access) {
      return std::find(made.begin(), made.end(), access.buffer) != made.end();
    });
    if (reads) consumers.push_back(static_cast<int>(i));
  }
  return consumers;
}

bool State::is_output(int stage) const {
  for (const ir::Buffer& output : stages[static_cast<std::size_t>(stage)]->stage.outputs) {
    if (std::find(outputs.begin(), outputs.end(), output) != outputs.end()) return true;
  }
  return false;
}

StageState& State::edit(int stage) {
  auto& held = stages[static_cast<std::size_t>(stage)];
  if (held.use_count() == 1) {
    // What others read of it before they let go happens before what is written now.
    std::atomic_thread_fence(std::memory_order_acquire);
    return const_cast<StageState&>(*held);  // made as a plain StageState, see make_shared
  }
  auto clone = std::make_shared<StageState>(*held);
  StageState& reference = *clone;
  held = std::move(clone);
  return reference;
}

StageState make_stage_state(ir::Stage stage) {
  StageState state;
  for (const ir::Axis& axis : stage.axes) state.iters.push_back({axis.name, false, {}, {}});
  for (const ir::Axis& axis : stage.reduce_axes) state.iters.push_back({axis.name, true, {}, {}});
  for (std::size_t i = 0; i < state.iters.size(); ++i) state.loops.push_back(static_cast<int>(i));
  state.accesses = accesses_of(stage);
  state.stage = std::move(stage);
  return state;
}

State initial_state(const ir::Program& program) {
  State state{program.name, program.inputs, program.outputs, {}};
  for (const ir::Stage& stage : program.stages) {
    state.stages.push_back(std::make_shared<StageState>(make_stage_state(stage)));
  }
  return state;
}

ir::Program program_of(const State& state) {
  ir::Program program{state.name, state.inputs, {}, state.outputs};
  for (const auto& stage : state.stages) program.stages.push_back(stage->stage);
  return program;
}

Result<int> require_stage(const State& state, const std::string& stage) {
  const int index = state.find(stage);
  if (index >= 0) return index;
  std::string names;
  for (const auto& known : state.stages) names += (names.empty() ? "" : ", ") + known->stage.name;
  return invalid(fmt::format("there is no stage '{}'", stage), "stages are " + names);
}

Result<int> require_loop(const StageState& stage, const std::string& loop) {
  const int position = stage.find_loop(loop);
  if (position >= 0) return position;
  return invalid(fmt::format("stage '{}' has no loop '{}'", stage.stage.name, loop),
                 "loops are " + stage.loop_names());
}

}  // namespace attune::schedule

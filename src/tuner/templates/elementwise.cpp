// Elementwise chains, movements, reductions over any axes, and whatever no other template knows.
// Producers without reduction are inlined where that does not compute much twice. What remains runs
// in vectors along its last axes, everything outside of them in parallel; a reduction that one
// stage reads element by element is computed in registers right before it is read.
#include <algorithm>

#include "tuner/templates/dataflow.h"
#include "tuner/templates/families.h"
#include "tuner/templates/plain_loops.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kLongestValue = 400;  // nodes of a value after inlining
// Nodes computed again per element, at most: little, none, much.
constexpr std::int64_t kWastedWork[] = {40, 0, 400};

bool fits(const ir::Program&) { return true; }

std::vector<space::Knob> knobs(const ir::Program& program, const ir::Target& target) {
  std::vector<space::Knob> list{space::choice_of("unroll", {1, 2, 4, 8})};
  const bool producers = program.stages.size() > 1;
  list.push_back(space::choice_of(
      "waste", producers ? std::vector<std::int64_t>(std::begin(kWastedWork), std::end(kWastedWork))
                         : std::vector<std::int64_t>{kWastedWork[0]}));
  // Rows of a transposition that are taken together.
  list.push_back(space::choice_of("cache_tile", {16, 8, 32}));
  // Little work is done before other threads have begun.
  list.push_back(space::annotate_with("parallel", target.threads > 1
                                                      ? std::vector<std::int64_t>{1, 0}
                                                      : std::vector<std::int64_t>{1}));
  return list;
}

space::Settings default_values(const ir::Program&, const ir::Target&) {
  return {{"unroll", {{4}}},
          {"waste", {{kWastedWork[0]}}},
          {"cache_tile", {{16}}},
          {"parallel", {{1}}}};
}

bool reduces(const ir::Stage& stage) { return stage.reduction != ir::Reduction::None; }

double iterations(const ir::Stage& stage) {
  double count = 1;
  for (const auto* axes : {&stage.axes, &stage.reduce_axes}) {
    for (const ir::Axis& axis : *axes) count *= static_cast<double>(axis.extent);
  }
  return count;
}

// Steps that inline, and what they leave.
struct Inlined {
  schedule::Trace steps;
  ir::Program program;
};

Inlined inline_producers(const ir::Program& program, double wasted_work) {
  const std::set<ir::Buffer> constants = constants_of(program);
  std::map<ir::Buffer, std::int64_t> length;  // of what is inlined
  std::vector<const ir::Stage*> chosen;
  for (const ir::Stage& stage : program.stages) {
    std::int64_t own = length_of(stage);
    for (const auto& [buffer, count] : reads_of(stage)) {
      const auto found = length.find(buffer);
      if (found != length.end()) own += count * found->second;
    }
    if (reduces(stage) || is_output(program, stage)) continue;
    if (constants.count(stage.outputs[0]) > 0 && !only_moves(stage)) continue;
    double reads = 0;
    std::int64_t places = 0;
    for (const ir::Stage* reader : readers_of(program, stage)) {
      const int count = reads_of(*reader).at(stage.outputs[0]);
      places += count;
      reads += count * iterations(*reader);
    }
    const double again = reads / iterations(stage) - 1;
    const bool moves = only_moves(stage);
    if (!moves && static_cast<double>(own) * again > wasted_work) continue;
    if (places > 1 && own * places > kLongestValue) continue;
    length[stage.outputs[0]] = own;
    chosen.push_back(&stage);
  }
  Inlined result{{}, program};
  schedule::State state = schedule::initial_state(program);
  for (const ir::Stage* stage : chosen) {
    const schedule::Step step = schedule::Inline{stage->name};
    if (!schedule::perform(state, step).ok()) continue;
    result.steps.push_back(step);
  }
  result.program = schedule::program_of(state);
  return result;
}

// Whether `host` reads the reduction at its own position and nowhere else, and nobody else does.
bool reads_in_place(const ir::Program& program, const ir::Stage& host, const ir::Stage& reduction) {
  const auto readers = readers_of(program, reduction);
  if (readers.size() != 1 || readers[0] != &host || !same_extents(host, reduction)) return false;
  return reads_at_own_index(host, reduction.outputs[0]);
}

schedule::Trace trace(const ir::Program& whole, const ir::Target& target,
                      const space::Values& values) {
  Inlined inlined = inline_producers(whole, static_cast<double>(values["waste"]));
  const ir::Program& program = inlined.program;
  const std::set<ir::Buffer> constants = constants_of(program);
  LoopStyle style = values["unroll"];
  style.parallel = values["parallel"] == 1;
  style.cache_tile = values["cache_tile"];
  std::set<const ir::Stage*> placed;
  TraceWriter t(std::move(inlined.steps));
  for (std::size_t i = program.stages.size(); i-- > 0;) {
    const ir::Stage& stage = program.stages[i];
    if (constants.count(stage.outputs[0]) > 0 && !is_output(program, stage)) continue;
    if (placed.count(&stage) > 0) continue;
    if (reduces(stage)) {
      run_reduction(t, stage, target, style);
      continue;
    }
    std::vector<const ir::Stage*> within;
    for (const ir::Stage& other : program.stages) {
      if (reduces(other) && other.outputs.size() == 1 && !is_output(program, other) &&
          constants.count(other.outputs[0]) == 0 && reads_in_place(program, stage, other) &&
          vectorizes_over_axes(other, target)) {
        within.push_back(&other);
      }
    }
    const std::string tiles =
        run_in_vectors(t, stage, target, style, within.empty() ? Tail::Fused : Tail::LastAxis);
    for (const ir::Stage* other : within) {
      if (tiles.empty()) continue;
      run_reduction_at(t, *other, stage, tiles, target);
      placed.insert(other);
    }
  }
  return t.take();
}

}  // namespace

space::Template elementwise() {
  return {"elementwise", fits, knobs, trace, default_values, nullptr};
}

}  // namespace attune::templates

// Elementwise chains, movements, reductions over any axes, and whatever no other template knows.
// Producers without reduction are inlined where that does not compute much twice. What remains runs
// in vectors along its last axes, everything outside of them in parallel; a reduction that one
// stage reads element by element is computed in registers right before it is read.
#include <algorithm>

#include "tuner/templates/dataflow.h"
#include "tuner/templates/families.h"
#include "tuner/templates/inlining.h"
#include "tuner/templates/plain_loops.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

// Nodes computed again per element, at most: little, none, much.
constexpr std::int64_t kWastedWork[] = {40, 0, 400};

// Rows of a transposition that are taken together.
constexpr std::int64_t kCacheTiles[] = {16, 8, 32};
constexpr std::int64_t kMostVectors = 8;  // written out

bool fits(const ir::Program&) { return true; }

// What the stages of a program leave to choose, however much is inlined.
struct Openings {
  std::int64_t vectors = 1;  // of the longest stage
  Jumps jumps;
};

Openings openings_of(const space::Subject& subject, const target::Target& target) {
  Openings found;
  for (const std::int64_t waste : kWastedWork) {
    const ir::Program inlined = inline_producers(subject, static_cast<double>(waste)).program;
    for (const ir::Stage& stage : inlined.stages) {
      std::int64_t elements = 1;
      for (const ir::Axis& axis : stage.axes) elements *= axis.extent;
      const std::int64_t lanes = lanes_of(stage, target);
      found.vectors = std::max(found.vectors, (elements + lanes - 1) / lanes);
      if (reduces(stage)) continue;
      const Jumps jumps = jumps_of(stage, target, *std::ranges::min_element(kCacheTiles));
      found.jumps.any |= jumps.any;
      found.jumps.across_rows |= jumps.across_rows;
    }
    if (subject.program.stages.size() == 1) break;
  }
  return found;
}

std::vector<space::Knob> knobs(const space::Subject& subject, const target::Target& target) {
  const Openings openings = openings_of(subject, target);
  // Vectors written out: what divides them, powers of two otherwise.
  std::vector<space::Knob> list{space::split_by("unroll", {.extent = openings.vectors,
                                                           .policy = space::SplitPolicy::Verbose,
                                                           .tails = true,
                                                           .max_factor = kMostVectors})};
  if (subject.program.stages.size() > 1) {
    list.push_back(space::choice_of("waste", {std::begin(kWastedWork), std::end(kWastedWork)}));
  }
  if (openings.jumps.across_rows) {
    list.push_back(
        space::choice_of("cache_tile", {std::begin(kCacheTiles), std::end(kCacheTiles)}));
    list.push_back(space::reorder_all("tile_order", 2));
  }
  // Loads that jump are made one by one in any case: vectors need not be best.
  if (openings.jumps.any) {
    list.push_back(space::annotate_loops("vector_loops", 2, space::AnnotatePolicy::TryBoth));
  }
  // Little work is done before other threads have begun.
  if (target.threads > 1) list.push_back(space::annotate_with("parallel", {1, 0}));
  return list;
}

space::Settings default_values(const ir::Program&, const target::Target&) {
  return {
      {"unroll", {{4}}},        {"waste", {{kWastedWork[0]}}}, {"cache_tile", {{kCacheTiles[0]}}},
      {"tile_order", {{0, 1}}}, {"vector_loops", {{1, 2}}},    {"parallel", {{1}}}};
}

LoopStyle style_of(const space::Values& values) {
  LoopStyle style = values["unroll"];
  if (values.has("parallel")) style.parallel = values["parallel"] == 1;
  if (values.has("cache_tile")) style.cache_tile = values["cache_tile"];
  if (values.has("tile_order")) style.tile_order = values.numbers("tile_order");
  if (values.has("vector_loops")) style.vector_loops = values.numbers("vector_loops");
  return style;
}

// Whether `host` reads the reduction at its own position and nowhere else, and nobody else does.
bool reads_in_place(const ir::Program& program, const ir::Stage& host, const ir::Stage& reduction) {
  const auto readers = readers_of(program, reduction);
  if (readers.size() != 1 || readers[0] != &host || !same_extents(host, reduction)) return false;
  return reads_at_own_index(host, reduction.outputs[0]);
}

space::Written trace(const space::Subject& subject, const target::Target& target,
                     const space::Values& values) {
  const std::int64_t waste = values.has("waste") ? values["waste"] : kWastedWork[0];
  Inlined inlined = inline_producers(subject, static_cast<double>(waste));
  const ir::Program& program = inlined.program;
  const std::set<ir::Buffer> constants = constants_of(program);
  const LoopStyle style = style_of(values);
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
  return {t.take(), std::nullopt};
}

}  // namespace

space::Template elementwise() {
  return {"elementwise", fits, knobs, trace, default_values, nullptr};
}

}  // namespace attune::templates

// Operators that reduce rows: softmax, layer norm, reductions over the last axis. Rows are
// independent and run in parallel; within a row each reduction keeps several vectors of partial
// results.
#include <algorithm>

#include "tuner/templates/families.h"
#include "tuner/templates/program_facts.h"
#include "tuner/templates/trace_writer.h"

namespace attune::templates {
namespace {

bool is_row_reduction(const ir::Stage& stage) {
  return stage.reduction != ir::Reduction::None && has_axes(stage, {"i"}, {"j"});
}

bool fits(const ir::Program& program) {
  if (program.stages.empty() || program.stages.back().name != "output") return false;
  bool reduces = false;
  for (const ir::Stage& stage : program.stages) {
    const bool plain = stage.reduction == ir::Reduction::None &&
                       (has_axes(stage, {"i"}, {}) || has_axes(stage, {"i", "j"}, {}));
    if (!plain && !is_row_reduction(stage)) return false;
    reduces |= !plain;
  }
  return reduces && program.outputs.size() == 1;
}

std::vector<space::Knob> knobs(const ir::Program&, const ir::Target&) {
  return {space::choice_of("vectors", {1, 2, 4}), space::choice_of("unroll", {1, 2, 4})};
}

space::Settings default_values(const ir::Program&, const ir::Target&) {
  return {{"vectors", {{4}}}, {"unroll", {{2}}}};
}

schedule::Trace trace(const ir::Program& program, const ir::Target& target,
                      const space::Values& values) {
  TraceWriter t;
  std::vector<std::string> placed;
  for (const ir::Stage& stage : program.stages) {
    if (!is_row_reduction(stage) || stage.outputs.size() != 1) continue;
    const std::int64_t lanes = lanes_of(stage, target);
    const std::int64_t width = lanes * values["vectors"];
    if (stage.reduce_axes[0].extent < 2 * width) {
      // A short row: each vector is combined into the result at once.
      t.split(stage.name, "j", {lanes});
      t.vectorize(stage.name, "j.1");
      continue;
    }
    t.split(stage.name, "j", {width});
    t.rfactor(stage.name, "j.1");
    t.vectorize("rf." + stage.name, "j_1");
    t.reorder("rf." + stage.name, {"i", "j_0", "j_1"});
    t.vectorize(stage.name, "j_1");
    placed.push_back(stage.name);
  }
  const auto elementwise_loops = [&](const ir::Stage& stage) {
    const std::int64_t lanes = lanes_of(stage, target);
    t.split(stage.name, "j", {values["unroll"], lanes});
    t.unroll(stage.name, "j.1");
    t.vectorize(stage.name, "j.2");
  };
  for (std::size_t i = program.stages.size(); i-- > 0;) {
    const ir::Stage& stage = program.stages[i];
    if (stage.name != "output") t.compute_at(stage.name, "output", "i");
    const bool factored = std::find(placed.begin(), placed.end(), stage.name) != placed.end();
    if (factored) t.compute_at("rf." + stage.name, "output", "i");
    if (has_axes(stage, {"i", "j"}, {})) elementwise_loops(stage);
  }
  t.parallel("output", "i");
  return t.take();
}

}  // namespace

space::Template rows() { return {"rows", fits, knobs, trace, default_values, nullptr}; }

}  // namespace attune::templates

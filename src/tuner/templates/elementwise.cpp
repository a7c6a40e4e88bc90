// Elementwise chains, transposes, and whatever no other template knows: producers without reduction
// are inlined, the output runs in vectors along its last axis, everything outside of it in
// parallel.
#include <algorithm>

#include "tuner/templates/families.h"
#include "tuner/templates/program_facts.h"
#include "tuner/templates/trace_writer.h"

namespace attune::templates {
namespace {

bool fits(const ir::Program&) { return true; }

std::vector<space::Knob> knobs(const ir::Program&, const ir::Target&) {
  return {space::choice_of("unroll", {1, 2, 4, 8})};
}

space::Settings default_values(const ir::Program&, const ir::Target&) {
  return {{"unroll", {{4}}}};
}

bool is_output(const ir::Program& program, const ir::Stage& stage) {
  return std::any_of(program.outputs.begin(), program.outputs.end(),
                     [&](const ir::Buffer& buffer) { return program.producer(buffer) == &stage; });
}

// Rows in parallel when there are enough of them, otherwise pieces of all rows. The loop over
// pieces is not fused with others, so that its partial last piece stays apart.
void run_in_vectors(TraceWriter& t, const ir::Stage& stage, const ir::Target& target,
                    std::int64_t unroll) {
  const ir::Axis& last = stage.axes.back();
  t.split(stage.name, last.name, {unroll, lanes_of(stage, target)});
  schedule::Names rows;
  std::int64_t row_count = 1;
  for (std::size_t i = 0; i + 1 < stage.axes.size(); ++i) {
    rows.push_back(stage.axes[i].name);
    row_count *= stage.axes[i].extent;
  }
  std::string outer = last.name + ".0";
  if (row_count >= 4 * std::max(1, target.threads)) {
    if (rows.size() > 1) t.fuse(stage.name, rows);
    outer = rows[0];
    for (std::size_t i = 1; i < rows.size(); ++i) outer += "*" + rows[i];
  } else if (!rows.empty()) {
    schedule::Names order{outer};
    order.insert(order.end(), rows.begin(), rows.end());
    t.reorder(stage.name, order);
  }
  t.parallel(stage.name, outer);
  t.unroll(stage.name, last.name + ".1");
  t.vectorize(stage.name, last.name + ".2");
}

schedule::Trace trace(const ir::Program& program, const ir::Target& target,
                      const space::Values& values) {
  TraceWriter t;
  for (const ir::Stage& stage : program.stages) {
    if (stage.axes.empty()) continue;
    if (stage.reduction != ir::Reduction::None) {
      t.parallel(stage.name, stage.axes[0].name);
    } else if (is_output(program, stage)) {
      run_in_vectors(t, stage, target, values["unroll"]);
    } else {
      t.inline_stage(stage.name);
    }
  }
  return t.take();
}

}  // namespace

space::Template elementwise() {
  return {"elementwise", fits, knobs, trace, default_values, nullptr};
}

}  // namespace attune::templates

#include "tuner/templates/gemm_dots.h"

#include <algorithm>

#include "compiler/ir/nodes/rewrite.h"
#include "tuner/templates/dataflow.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kSizes[] = {1, 2, 3, 4, 6, 8, 12};
constexpr std::int64_t kLongestSum = 512;  // of one lane, which rounds as it goes

// Whether neighbours along the axis lie side by side, also behind a stage that only moves elements.
bool runs_along(const ir::Program& program, const ir::Load& load, const std::string& axis) {
  const ir::Stage* stage = program.producer(load.buffer);
  if (!stage) return stride_of(load, axis) == 1;
  if (depends_on_constants(program, *stage) || !only_moves(*stage)) return false;
  for (std::size_t d = 0; d < load.index.size(); ++d) {
    const auto* index = ir::as<ir::Var>(load.index[d]);
    if (!index || index->name != axis) continue;
    const auto* moved = ir::as<ir::Load>(stage->values[0]);
    return moved && stride_of(*moved, stage->axes[d].name) == 1;
  }
  return false;
}

bool both_run_along(const ir::Program& program, const std::string& axis) {
  int along = 0, others = 0;
  ir::visit(program.find_stage("anchor")->values[0], [&](const ir::Expr& e) {
    const auto* load = ir::as<ir::Load>(e);
    if (load) ++(runs_along(program, *load, axis) ? along : others);
  });
  return along == 2 && others == 0;
}

}  // namespace

space::Knob dots_knob(const ir::Program& program, const GemmShape& s, const Right& right,
                      const target::Target& target) {
  space::Knob knob{"dots", space::KnobKind::Split, {{{0, 0}}}};
  const bool readable = !right.stage || only_moves(*right.stage);
  const bool rounds = program.find_stage("anchor")->values[0].type().is_float();
  if (!rounds || right.prepared || !readable || s.k < s.lanes || s.k > kLongestSum * s.lanes ||
      !both_run_along(program, "k")) {
    return knob;
  }
  for (const std::int64_t rows : kSizes) {
    for (const std::int64_t columns : kSizes) {
      const std::int64_t needed = rows * columns + std::min(rows, columns) + 1;
      if (rows > s.m || columns > s.n || needed > target.vector_registers) continue;
      knob.choices.push_back({{rows, columns}});
    }
  }
  return knob;
}

bool has_dots(const space::Values& values) { return values.numbers("dots")[0] > 0; }

schedule::Trace product_of_dots(const target::Target& target, const space::Values& values,
                                const GemmParts& p) {
  TraceWriter t;
  const auto tile = values.numbers("dots");
  p.fused.place(t, target);
  leave_unpacked(t, p.right);
  t.split("anchor", "k", {p.shape.lanes});
  t.rfactor("anchor", "k.1");
  t.split("output", p.i, {tile[0]});
  t.split("output", p.j, {tile[1]});
  schedule::Names shared{p.j + ".0", p.i + ".0"};
  if (!p.b.empty()) shared.insert(shared.begin(), p.b);
  schedule::Names order = shared;
  order.insert(order.end(), {p.i + ".1", p.j + ".1"});
  t.reorder("output", order);
  t.fuse("output", shared);
  const std::string place = fused_name(shared);
  p.fused.attach(t, target, place);
  t.compute_at("anchor", "output", place);
  t.compute_at("rf.anchor", "output", place);
  t.unroll("anchor", "i");
  t.unroll("anchor", "j");
  t.vectorize("anchor", "k_1");
  t.registers("rf.anchor");
  schedule::Names loops{"k_0"};
  if (values["unroll"] > 1) {
    t.split("rf.anchor", "k_0", {values["unroll"]});
    loops = {"k_0.0", "k_0.1"};
    t.unroll("rf.anchor", "k_0.1");
  }
  loops.insert(loops.end(), {"i", "j", "k_1"});
  t.reorder("rf.anchor", loops);
  t.unroll("rf.anchor", "i");
  t.unroll("rf.anchor", "j");
  t.vectorize("rf.anchor", "k_1");
  t.parallel("output", place);
  t.unroll("output", p.i + ".1");
  if (tile[1] > 1) t.vectorize("output", p.j + ".1");
  return t.take();
}

}  // namespace attune::templates

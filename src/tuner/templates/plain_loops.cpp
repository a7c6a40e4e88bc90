#include "tuner/templates/plain_loops.h"

#include <algorithm>

#include "compiler/ir/nodes/rewrite.h"
#include "tuner/templates/dataflow.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kLongestBody = 160;  // nodes written out in one loop body

std::vector<const ir::Load*> loads_of(const ir::Stage& stage) {
  std::vector<const ir::Load*> loads;
  for (const ir::Expr& value : stage.values) {
    ir::visit(value, [&](const ir::Expr& e) {
      if (const auto* load = ir::as<ir::Load>(e)) loads.push_back(load);
    });
  }
  return loads;
}

bool uses_in_condition(const ir::Stage& stage, const std::string& axis) {
  bool found = false;
  for (const ir::Expr& value : stage.values) {
    ir::visit(value, [&](const ir::Expr& e) {
      if (const auto* select = ir::as<ir::Select>(e)) {
        found |= ir::uses_var(select->condition, axis);
      } else if (const auto* conversion = ir::as<ir::Cast>(e)) {
        found |= conversion->value.type() == ir::kIndex && ir::uses_var(conversion->value, axis);
      }
    });
  }
  return found;
}

// Whether the loop over axes [first, end) may be one: every load walks through them in order, or
// stands still, and nothing else looks at them one by one.
bool fusible(const ir::Stage& stage, std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < end; ++i) {
    if (stage.axes[i].extent > 1 && uses_in_condition(stage, stage.axes[i].name)) return false;
  }
  for (const ir::Load* load : loads_of(stage)) {
    bool still = true, walks = true;
    std::int64_t step = 1;
    for (std::size_t i = end; i-- > first;) {
      if (stage.axes[i].extent == 1) continue;
      const auto stride = stride_of(*load, stage.axes[i].name);
      still &= stride == 0;
      walks &= stride == step;
      step *= stage.axes[i].extent;
    }
    if (!still && !walks) return false;
  }
  return true;
}

schedule::Names names_of(const std::vector<ir::Axis>& axes) {
  schedule::Names names;
  for (const ir::Axis& axis : axes) names.push_back(axis.name);
  return names;
}

// How many lanes a block has where a load takes them along an axis, c % 16 in its last dimension; 0
// where it does not.
std::int64_t block_along(const ir::Load& load, const std::string& axis) {
  const auto* lane = load.index.empty() ? nullptr : ir::as<ir::Binary>(load.index.back());
  const auto* of = lane ? ir::as<ir::Var>(lane->lhs) : nullptr;
  const auto* block = lane ? ir::as_int(lane->rhs) : nullptr;
  return of && block && lane->op == ir::BinOp::Mod && of->name == axis ? *block : 0;
}

// An axis before the vector's along which loads are contiguous that jump along the vector, and how
// many of its values share cache lines.
struct Across {
  std::string axis;
  std::int64_t tile = 0;
};

Across transposed_axis(const ir::Stage& stage, const VectorLoops& loops, std::int64_t tile) {
  if (loops.vector.size() != 1 || strides_of(stage, loops.vector[0]).scattered == 0) return {};
  for (std::size_t i = loops.outer; i-- > 0;) {
    const ir::Axis& axis = stage.axes[i];
    if (axis.extent >= tile && strides_of(stage, axis.name).contiguous > 0) {
      return {axis.name, tile};
    }
    for (const ir::Load* load : loads_of(stage)) {
      const std::int64_t block = block_along(*load, axis.name);
      if (block > 0) return {axis.name, std::min(block, axis.extent)};
    }
  }
  return {};
}

}  // namespace

std::string fused_name(const schedule::Names& loops) {
  std::string name = loops[0];
  for (std::size_t i = 1; i < loops.size(); ++i) name += "*" + loops[i];
  return name;
}

VectorLoops vector_loops(const ir::Stage& stage, const target::Target& target, std::int64_t unroll,
                         Tail tail) {
  VectorLoops loops;
  loops.lanes = lanes_of(stage, target);
  std::size_t end = stage.axes.size();
  while (end > 1 && stage.axes[end - 1].extent == 1) --end;
  if (end == 0) return loops;
  std::size_t first = end - 1;
  while (tail == Tail::Fused && first > 0 && fusible(stage, first - 1, end)) --first;
  loops.outer = first;
  for (std::size_t i = first; i < end; ++i) {
    loops.vector.push_back(stage.axes[i].name);
    loops.extent *= stage.axes[i].extent;
  }
  const std::int64_t all = (loops.extent + loops.lanes - 1) / loops.lanes;
  const std::int64_t room = std::max<std::int64_t>(1, kLongestBody / length_of(stage));
  loops.vectors = std::min({unroll, all, room});
  return loops;
}

Jumps jumps_of(const ir::Stage& stage, const target::Target& target, std::int64_t cache_tile) {
  const VectorLoops loops = vector_loops(stage, target, 1, Tail::Fused);
  if (loops.vector.size() != 1) return {};
  return {strides_of(stage, loops.vector[0]).scattered > 0,
          transposed_axis(stage, loops, cache_tile).tile > 0};
}

std::string run_in_vectors(TraceWriter& t, const ir::Stage& stage, const target::Target& target,
                           const LoopStyle& style, Tail tail) {
  VectorLoops loops = vector_loops(stage, target, style.unroll, tail);
  if (loops.vector.empty()) return {};
  const Across across = transposed_axis(stage, loops, style.cache_tile);
  if (across.tile > 0) loops.vectors = 1;
  if (loops.vector.size() > 1) t.fuse(stage.name, loops.vector);
  const std::string vector = fused_name(loops.vector);
  t.split(stage.name, vector, {loops.vectors, loops.lanes});
  std::string tiles = vector + ".0";
  schedule::Names rows = names_of(stage.axes);
  rows.resize(loops.outer);
  std::int64_t row_count = 1;
  for (std::size_t i = 0; i < loops.outer; ++i) row_count *= stage.axes[i].extent;

  // Rows that lie side by side in memory share cache lines: a few of them at a time.
  if (across.tile > 0) {
    t.split(stage.name, across.axis, {across.tile});
    std::replace(rows.begin(), rows.end(), across.axis, across.axis + ".0");
    schedule::Names order = rows;
    const schedule::Names inner{tiles, across.axis + ".1"};
    for (const std::int64_t i : style.tile_order) {
      order.push_back(inner[static_cast<std::size_t>(i)]);
    }
    t.reorder(stage.name, order);
    row_count = (row_count + across.tile - 1) / across.tile;
  }
  // Rows in parallel when there are enough of them, otherwise pieces of all rows. The loop over
  // pieces is not fused with others, so that its partial last piece stays apart.
  std::string outer = tiles;
  if (!rows.empty() && row_count >= (across.tile > 0 ? 1 : 4) * std::max(1, target.threads)) {
    if (rows.size() > 1) t.fuse(stage.name, rows);
    outer = fused_name(rows);
  } else if (!rows.empty()) {
    schedule::Names order{tiles};
    order.insert(order.end(), rows.begin(), rows.end());
    t.reorder(stage.name, order);
    tiles = rows.back();
  }
  if (style.parallel) t.parallel(stage.name, outer);
  t.annotate_as(stage.name, {vector + ".1", vector + ".2"}, style.vector_loops);
  return tiles;
}

bool vectorizes_over_axes(const ir::Stage& stage, const target::Target& target) {
  if (stage.axes.empty()) return false;
  const ir::Axis& last = stage.axes.back();
  const Strides strides = strides_of(stage, last.name);
  if (last.extent < 2 || strides.contiguous == 0 || strides.scattered > 0) return false;
  if (last.extent >= lanes_of(stage, target)) return true;
  // Short vectors, unless the reduction itself offers longer ones.
  for (const ir::Axis& axis : stage.reduce_axes) {
    const Strides along = strides_of(stage, axis.name);
    if (along.contiguous > 0 && along.scattered == 0 && axis.extent > 2 * last.extent) return false;
  }
  return true;
}

namespace {

// The loops of a tile: the reduction outside of the vectors.
void tile_loops(TraceWriter& t, const std::string& name, const ir::Stage& stage,
                std::int64_t lanes) {
  const std::string& last = stage.axes.back().name;
  t.split(name, last, {lanes});
  schedule::Names order = names_of(stage.axes);
  order.pop_back();
  for (const ir::Axis& axis : stage.reduce_axes) order.push_back(axis.name);
  order.insert(order.end(), {last + ".0", last + ".1"});
  t.reorder(name, order);
  t.unroll(name, last + ".0");
  t.vectorize(name, last + ".1");
}

// Partial results in vectors along the reduce axis that is contiguous in memory; false without one.
bool reduce_along(TraceWriter& t, const ir::Stage& stage, const target::Target& target) {
  if (stage.outputs.size() != 1) return false;
  for (std::size_t i = stage.reduce_axes.size(); i-- > 0;) {
    const ir::Axis& axis = stage.reduce_axes[i];
    const Strides strides = strides_of(stage, axis.name);
    const std::int64_t lanes = lanes_of(stage, target);
    if (strides.contiguous == 0 || strides.scattered > 0 || axis.extent < lanes / 2) continue;
    const std::string factored = "rf." + stage.name;
    const std::int64_t width = lanes * (axis.extent >= 8 * lanes ? 4 : 1);
    t.split(stage.name, axis.name, {width});
    t.rfactor(stage.name, axis.name + ".1");
    schedule::Names order = names_of(stage.axes);
    for (std::size_t r = 0; r < stage.reduce_axes.size(); ++r) {
      order.push_back(stage.reduce_axes[r].name + (r == i ? "_0" : ""));
    }
    order.push_back(axis.name + "_1");
    t.reorder(factored, order);
    t.vectorize(factored, axis.name + "_1");
    t.vectorize(stage.name, axis.name + "_1");
    return true;
  }
  return false;
}

// The axis along which all loads take the lanes of blocks, and how many these have.
Across lane_axis(const ir::Stage& stage) {
  for (const ir::Axis& axis : stage.axes) {
    std::int64_t block = -1;
    for (const ir::Load* load : loads_of(stage)) {
      const std::int64_t here = block_along(*load, axis.name);
      block = block == -1 || block == here ? here : 0;
    }
    if (block > 1 && axis.extent >= block) return {axis.name, block};
  }
  return {};
}

// A reduction of what lies in blocks of channels, in vectors of such a block; false without them.
bool reduce_blocks(TraceWriter& t, const ir::Stage& stage, const LoopStyle& style) {
  const Across lanes = lane_axis(stage);
  if (lanes.tile == 0 || stage.outputs.size() != 1) return false;
  const std::string cache = "cache." + stage.name, blocks = lanes.axis + ".0";
  t.cache_write(stage.name);
  t.split(stage.name, lanes.axis, {lanes.tile});
  schedule::Names rows = names_of(stage.axes);
  std::erase(rows, lanes.axis);
  schedule::Names order = rows;
  order.insert(order.end(), {blocks, lanes.axis + ".1"});
  t.reorder(stage.name, order);
  t.compute_at(cache, stage.name, blocks);
  t.registers(cache);
  order = rows;
  for (const ir::Axis& axis : stage.reduce_axes) order.push_back(axis.name);
  order.push_back(lanes.axis);
  t.reorder(cache, order);
  t.vectorize(cache, lanes.axis);
  std::int64_t row_count = 1;
  for (const ir::Axis& axis : stage.axes) row_count *= axis.name == lanes.axis ? 1 : axis.extent;
  if (rows.size() > 1) t.fuse(stage.name, rows);
  if (style.parallel) t.parallel(stage.name, row_count > 1 ? fused_name(rows) : blocks);
  t.vectorize(stage.name, lanes.axis + ".1");
  return true;
}

}  // namespace

void run_reduction(TraceWriter& t, const ir::Stage& stage, const target::Target& target,
                   const LoopStyle& style) {
  const bool over_axes = vectorizes_over_axes(stage, target);
  schedule::Names rows = names_of(stage.axes);
  if (over_axes && stage.outputs.size() == 1) {
    t.cache_write(stage.name);
    const std::string& last = rows.back();
    const std::string vector = last;
    t.split(stage.name, vector, {style.unroll, lanes_of(stage, target)});
    rows.pop_back();
    const std::string tiles = vector + ".0";
    t.compute_at("cache." + stage.name, stage.name, tiles);
    t.registers("cache." + stage.name);
    tile_loops(t, "cache." + stage.name, stage, lanes_of(stage, target));
    if (rows.size() > 1) t.fuse(stage.name, rows);
    if (style.parallel) t.parallel(stage.name, rows.empty() ? tiles : fused_name(rows));
    t.unroll(stage.name, vector + ".1");
    t.vectorize(stage.name, vector + ".2");
    return;
  }
  if (over_axes) {
    tile_loops(t, stage.name, stage, lanes_of(stage, target));
    rows.pop_back();
    if (rows.size() > 1) t.fuse(stage.name, rows);
    if (!rows.empty() && style.parallel) t.parallel(stage.name, fused_name(rows));
    return;
  }
  if (reduce_blocks(t, stage, style)) return;
  const bool factored = reduce_along(t, stage, target);
  if (rows.empty()) return;
  if (rows.size() > 1) t.fuse(stage.name, rows);
  if (factored) t.compute_at("rf." + stage.name, stage.name, fused_name(rows));
  if (style.parallel) t.parallel(stage.name, fused_name(rows));
}

void run_reduction_at(TraceWriter& t, const ir::Stage& stage, const ir::Stage& host,
                      const std::string& loop, const target::Target& target) {
  t.compute_at(stage.name, host.name, loop);
  t.registers(stage.name);
  tile_loops(t, stage.name, stage, lanes_of(stage, target));
}

}  // namespace attune::templates

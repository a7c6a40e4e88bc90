// Matrix products: matmul, dense and batch_matmul. Register tiles of rows x vectors; the right-hand
// matrix lies in panels as wide as a tile, packed at run time (matmul) or ahead (dense). Two loop
// orders: panel by panel, all rows inside, or block of rows by block of rows, all panels inside.
// Accumulators live in registers over a part of the reduction; a tile adds its parts up. With a
// long reduction, `kc` cuts it, and partial sums of a block of rows stay in the cache.
#include <algorithm>

#include "compiler/ir/nodes/rewrite.h"
#include "tuner/templates/dataflow.h"
#include "tuner/templates/families.h"
#include "tuner/templates/fused_stages.h"
#include "tuner/templates/program_facts.h"
#include "tuner/templates/register_tile.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kRowsToPack = 96;
constexpr std::int64_t kFewRows = 8;
constexpr std::int64_t kTilesOfBlock[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

// The right-hand matrix: which tensor it is, and which of its dimensions the columns and the
// reduction run along.
struct Right {
  std::string tensor;
  const ir::Stage* stage = nullptr;  // that makes it; null for an input
  bool prepared = false;             // constant: laid out ahead of time
  bool private_use = false;          // the anchor alone reads it
  std::vector<std::string> axes;     // of the stage, or of a copy of the input
  int j = -1, k = -1;                // positions
  bool contiguous() const { return j + 1 == static_cast<int>(axes.size()); }
};

int dimension_of(const ir::Load& load, const char* axis) {
  int found = -1;
  for (std::size_t d = 0; d < load.index.size(); ++d) {
    if (!ir::uses_var(load.index[d], axis)) continue;
    if (found >= 0 || !ir::as<ir::Var>(load.index[d])) return -1;
    found = static_cast<int>(d);
  }
  return found;
}

std::optional<Right> right_of(const ir::Program& program) {
  const ir::Stage& anchor = *program.find_stage("anchor");
  std::optional<Right> right;
  ir::visit(anchor.values[0], [&](const ir::Expr& e) {
    const auto* load = ir::as<ir::Load>(e);
    if (!load || dimension_of(*load, "j") < 0 || dimension_of(*load, "k") < 0) return;
    right.emplace();
    right->tensor = load->buffer->name;
    right->stage = program.producer(load->buffer);
    right->j = dimension_of(*load, "j");
    right->k = dimension_of(*load, "k");
    for (std::size_t d = 0; d < load->index.size(); ++d) {
      right->axes.push_back(right->stage ? right->stage->axes[d].name : "i" + std::to_string(d));
    }
    right->prepared = right->stage && depends_on_constants(program, *right->stage);
  });
  if (!right || (right->stage && right->stage->reduction != ir::Reduction::None)) return {};
  right->private_use = right->stage && readers_of(program, *right->stage).size() == 1;
  return right;
}

struct Shape {
  std::int64_t batch, m, n, k, lanes, element_bytes;
  std::int64_t part;  // of k, that one register tile sums up
  std::int64_t vectors() const { return (n + lanes - 1) / lanes; }
};

Shape shape_of(const ir::Program& program, const target::Target& target) {
  const ir::Stage& anchor = *program.find_stage("anchor");
  const std::int64_t m = extent_of(anchor, "i"), k = extent_of(anchor, "k");
  // With few rows the time goes into reading the right-hand matrix, and short parts cost nothing.
  const std::int64_t part = steps_of_part(anchor, k, 1, m <= kFewRows ? 128 : 384);
  return {std::max<std::int64_t>(1, extent_of(anchor, "b")),
          m,
          extent_of(anchor, "j"),
          k,
          lanes_of(anchor, target),
          anchor.values[0].type().element_bytes(),
          part};
}

FusedStages fused_stages_of(const ir::Program& program, const Right& right) {
  return {program, {"filter", right.tensor}};
}

bool fits(const ir::Program& program) {
  const ir::Stage* anchor = program.find_stage("anchor");
  const ir::Stage* output = program.find_stage("output");
  if (!anchor || !output || anchor->reduction != ir::Reduction::Sum ||
      !(has_axes(*anchor, {"i", "j"}, {"k"}) || has_axes(*anchor, {"b", "i", "j"}, {"k"}))) {
    return false;
  }
  const auto right = right_of(program);
  return right && same_extents(*anchor, *output) && fused_stages_of(program, *right).placeable();
}

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program, target);
  const Right right = *right_of(program);
  std::vector<space::Knob> list;
  list.push_back(all_register_tiles("tile", s.m, s.vectors(), target));
  // 0: panel outermost; otherwise tiles per block of rows, block outermost.
  std::vector<std::int64_t> blocks{0};
  for (const std::int64_t tiles : kTilesOfBlock) {
    if (tiles < s.m) blocks.push_back(tiles);
  }
  list.push_back(space::choice_of("block", blocks));
  list.push_back(unroll_steps("unroll", s.k));
  std::vector<std::int64_t> cuts{0};
  for (const std::int64_t kc : {64, 96, 128, 192, 256, 384, 512, 768, 1024}) {
    if (kc * 2 <= s.k) cuts.push_back(kc);
  }
  list.push_back(space::choice_of("kc", cuts));
  // Packing at run time pays only when enough rows share the panels.
  const bool always = right.prepared || !right.contiguous();
  list.push_back(space::choice_of(
      "pack", always ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{1, 0}));
  // Panels that lie ready come from far; those that are packed on the way are near already.
  list.push_back(space::choice_of("prefetch", right.prepared && s.m > 1
                                                  ? std::vector<std::int64_t>{1, 0}
                                                  : std::vector<std::int64_t>{0}));
  // The innermost loop around a tile: 0 over rows, with the panel held, 1 over panels.
  list.push_back(space::choice_of("inner", {0, 1}));
  // The operand that is loaded first and held while the other streams: 0 the smaller one.
  list.push_back(space::choice_of("held", {0, 1}));
  return list;
}

// Few columns cannot be shared evenly; many rows can.
bool shares_rows(const Shape& s, const target::Target& target) {
  return target.threads > 1 && s.batch == 1 && s.vectors() < 2 * target.threads &&
         s.m >= 64 * target.threads;
}

// Some blocks of rows for each thread.
std::int64_t default_block(const Shape& s, const space::Choice& tile,
                           const target::Target& target) {
  std::int64_t block = kTilesOfBlock[0];
  for (const std::int64_t tiles : kTilesOfBlock) {
    if (tiles * tile.numbers[0] * 4 * target.threads <= s.m) block = tiles;
  }
  return block;
}

space::Settings default_values(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program, target);
  const bool prepared = right_of(program)->prepared;
  const bool by_rows = prepared && shares_rows(s, target);
  const auto tiles = register_tiles("tile", s.m, s.vectors(), target);
  const space::Choice tile =
      prepared && !by_rows ? streamed_tile(tiles, {s.m, s.vectors(), s.k * s.element_bytes}, target)
                           : best_tile(tiles, s.m, s.vectors());
  return {{"tile", tile},
          {"block", {{by_rows ? default_block(s, tile, target) : 0}}},
          {"unroll", {{1}}},
          {"kc", {{s.k > 4096 && s.m > kFewRows ? 512 : 0}}},
          {"pack", {{s.m >= kRowsToPack ? 1 : 0}}},
          {"prefetch", {{prepared && s.m > 1 ? 1 : 0}}},
          {"inner", {{0}}},
          {"held", {{0}}}};
}

std::optional<std::string> reject(const ir::Program& program, const target::Target& target,
                                  const space::Values& values) {
  const Shape s = shape_of(program, target);
  const auto tile = values.numbers("tile");
  return tile_flaw(tile[0], tile[1], {s.m, s.vectors()}, target);
}

struct Panel {
  std::int64_t vectors, lanes;
};

// The right-hand matrix, read by `consumer`, in panels; packed at a loop of output, or ahead of all
// loops when `loop` is empty.
void pack_panels(TraceWriter& t, const Right& right, Panel panel, const std::string& consumer,
                 const std::string& loop) {
  const auto [vectors, lanes] = panel;
  const std::string width = std::to_string(vectors * lanes);
  const std::string& j = right.axes[right.j];
  const std::string& k = right.axes[right.k];
  std::string packed = right.tensor;
  if (!right.stage) {
    t.cache_read(right.tensor, consumer);
    packed = "cache." + right.tensor;
  }
  if (!loop.empty()) t.compute_at(packed, "output", loop);
  t.split(packed, j, {vectors, lanes});
  schedule::Names order{j + ".0", k, j + ".1", j + ".2"};
  t.reorder(packed, order);
  if (!right.prepared) t.unroll(packed, j + ".1");
  t.vectorize(packed, j + ".2");
  schedule::Names layout;
  for (const std::string& axis : right.axes) {
    if (axis != j && axis != k) layout.push_back(axis);
  }
  const bool batched = !layout.empty();
  layout.insert(layout.end(), {j + "/" + width, k, j + "%" + width});
  t.layout(packed, layout);
  if (loop.empty() && !right.prepared) t.parallel(packed, batched ? layout[0] : j + ".0");
}

// What both orders of loops start from.
struct Parts {
  const Shape& shape;
  const Right& right;
  const FusedStages& fused;
  std::string b, i, j;  // axes of the output; b is empty without batch
};

void parallel_with_batch(TraceWriter& t, const Parts& p, const std::string& outer) {
  if (p.b.empty()) {
    t.parallel("output", outer);
  } else {
    t.fuse("output", {p.b, outer});
    t.parallel("output", fused_name({p.b, outer}));
  }
}

// The sum of the parts of a tile; what they are, rf.anchor, is computed at it.
void place_sum_of_parts(TraceWriter& t, std::int64_t lanes) {
  t.split("anchor", "j", {lanes});
  t.reorder("anchor", {"k_0", "i", "j.0", "j.1"});
  t.annotate("anchor", "*", "init", "select");
  t.compute_at("rf.anchor", "anchor", "k_0");
  t.unroll("anchor", "i");
  t.unroll("anchor", "j.0");
  t.vectorize("anchor", "j.1");
}

schedule::Trace whole_reduction(const target::Target& target, const space::Values& values,
                                const Parts& p) {
  TraceWriter t;
  const auto tile = values.numbers("tile");
  const std::int64_t block = values["block"], lanes = p.shape.lanes;
  const std::string &i = p.i, &j = p.j;
  p.fused.place(t, target);
  const bool in_parts = p.shape.part < p.shape.k;
  if (in_parts) {
    t.split("anchor", "k", {p.shape.part});
    t.rfactor("anchor", "k.0");
  }
  const std::string summed = in_parts ? "rf.anchor" : "anchor";
  t.split("output", i, block == 0 ? schedule::Numbers{tile[0]} : schedule::Numbers{block, tile[0]});
  t.split("output", j, {tile[1], lanes});
  const std::string row = i + (block == 0 ? ".1" : ".2");
  const std::string rows = i + (block == 0 ? ".0" : ".1");
  const bool rows_inside = values["inner"] == 0;
  schedule::Names order =
      rows_inside ? schedule::Names{j + ".0", rows} : schedule::Names{rows, j + ".0"};
  const std::string tile_loop = order.back();
  if (block > 0) order.insert(order.begin(), i + ".0");
  order.insert(order.end(), {row, j + ".1", j + ".2"});
  t.reorder("output", order);
  p.fused.attach(t, target, tile_loop);
  t.compute_at("anchor", "output", tile_loop);
  const bool packs = values["pack"] == 1 || p.right.prepared;
  const bool copied = p.right.stage == nullptr || p.right.private_use;
  const bool inside = packs && block == 0 && rows_inside && !p.right.prepared && copied;
  if (!packs && p.right.stage && only_moves(*p.right.stage)) t.inline_stage(p.right.tensor);
  if (in_parts) place_sum_of_parts(t, lanes);
  if (packs) pack_panels(t, p.right, {tile[1], lanes}, summed, inside ? j + ".0" : "");
  const std::string k = in_parts ? "k_1" : "k";
  register_tile(t, summed, k, values, lanes);
  if (!p.b.empty() && inside) {
    t.parallel("output", p.b);
  } else {
    parallel_with_batch(t, p, order[0]);
  }
  t.unroll("output", row);
  t.unroll("output", j + ".1");
  t.vectorize("output", j + ".2");
  return t.take();
}

schedule::Trace cut_reduction(const target::Target& target, const space::Values& values,
                              const Parts& p) {
  TraceWriter t;
  const auto tile = values.numbers("tile");
  const std::int64_t lanes = p.shape.lanes;
  const std::int64_t rows = tile[0] * std::max<std::int64_t>(values["block"], 4);
  p.fused.place(t, target);
  t.split("anchor", "k", {values["kc"]});
  t.rfactor("anchor", "k.0");
  t.split("output", p.i, {rows});
  t.split("output", p.j, {lanes});
  p.fused.attach(t, target, p.i + ".0");
  t.compute_at("anchor", "output", p.i + ".0");
  t.split("anchor", "i", {tile[0]});
  t.split("anchor", "j", {tile[1], lanes});
  const std::string tile_loop = values["inner"] == 0 ? "i.0" : "j.0";
  t.reorder("anchor", {"k_0", tile_loop == "i.0" ? "j.0" : "i.0", tile_loop, "i.1", "j.1", "j.2"});
  t.annotate("anchor", "*", "init", "select");
  t.compute_at("rf.anchor", "anchor", tile_loop);
  t.unroll("anchor", "i.1");
  t.unroll("anchor", "j.1");
  t.vectorize("anchor", "j.2");
  if (values["pack"] == 1) {
    pack_panels(t, p.right, {tile[1], lanes}, "rf.anchor", {});
  } else if (!p.right.prepared && p.right.stage && only_moves(*p.right.stage)) {
    t.inline_stage(p.right.tensor);
  }
  register_tile(t, "rf.anchor", "k_1", values, lanes);
  parallel_with_batch(t, p, p.i + ".0");
  t.vectorize("output", p.j + ".1");
  return t.take();
}

schedule::Trace trace(const ir::Program& program, const target::Target& target,
                      const space::Values& values) {
  const Shape s = shape_of(program, target);
  const Right right = *right_of(program);
  const FusedStages fused = fused_stages_of(program, right);
  const auto& axes = program.find_stage("output")->axes;
  const bool batched = axes.size() == 3;
  const Parts parts{
      s, right, fused, batched ? axes[0].name : "", axes[axes.size() - 2].name, axes.back().name};
  return values["kc"] == 0 ? whole_reduction(target, values, parts)
                           : cut_reduction(target, values, parts);
}

}  // namespace

space::Template gemm() { return {"gemm", fits, knobs, trace, default_values, reject}; }

}  // namespace attune::templates

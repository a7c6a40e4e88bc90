// Matrix products: matmul, dense and batch_matmul. Register tiles of rows x vectors; the right-hand
// matrix lies in panels as wide as a tile, packed at run time (matmul) or ahead (dense). Two loop
// orders: panel by panel, all rows inside, or block of rows by block of rows, all panels inside.
// Accumulators live in registers over a part of the reduction; a tile adds its parts up. With a
// long reduction, `kc` cuts it, and partial sums of a block of rows stay in the cache; or threads
// have shares of it (gemm_shares.h). Without panels: gemm_dots.h.
#include <algorithm>

#include "tuner/templates/families.h"
#include "tuner/templates/gemm_dots.h"
#include "tuner/templates/gemm_shares.h"
#include "tuner/templates/program_facts.h"
#include "tuner/templates/register_tile.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kFewRows = 8;
// Multiply-adds written out in one loop body and behind it: more do not stay in registers.
constexpr std::int64_t kLongestBody = 320;
constexpr std::int64_t kTilesOfBlock[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

GemmShape shape_of(const ir::Program& program, const target::Target& target) {
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
  const GemmShape s = shape_of(program, target);
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
  // What the threads share: 0 the outermost loop, 1 blocks of rows and panels together.
  list.push_back(space::choice_of(
      "grid", target.threads > 1 ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{0}));
  list.push_back(shares_knob(s, target));
  list.push_back(dots_knob(program, s, right, target));
  return list;
}

space::Settings default_values(const ir::Program& program, const target::Target& target) {
  const GemmShape s = shape_of(program, target);
  const bool prepared = right_of(program)->prepared;
  const auto tiles = register_tiles("tile", s.m, s.vectors(), target);
  const space::Choice tile =
      prepared ? streamed_tile(tiles, {s.m, s.vectors(), s.k * s.element_bytes}, target)
               : best_tile(tiles, s.m, s.vectors());
  // Panels pay that some tiles have in common.
  constexpr std::int64_t kTilesToPack = 16;
  return {{"tile", tile},
          {"block", {{0}}},
          {"unroll", {{1}}},
          {"kc", {{0}}},
          {"pack", {{s.m >= kTilesToPack * tile.numbers[0] ? 1 : 0}}},
          {"prefetch", {{prepared && s.m > 1 ? 1 : 0}}},
          {"inner", {{0}}},
          {"held", {{0}}},
          {"grid", {{0}}},
          {"shares", {{0}}},
          {"dots", {{0, 0}}}};
}

// Dots have none of what panels have; what there is of it stays as it is by default.
std::optional<std::string> dots_flaw(const ir::Program& program, const target::Target& target,
                                     const space::Values& values) {
  for (const auto& [name, usual] : default_values(program, target)) {
    if (name == "dots" || name == "unroll" || name == "pack") continue;
    const auto chosen = values.numbers(name);
    if (!std::equal(chosen.begin(), chosen.end(), usual.numbers.begin(), usual.numbers.end())) {
      return "dots have no panels";
    }
  }
  return std::nullopt;
}

std::optional<std::string> reject(const ir::Program& program, const target::Target& target,
                                  const space::Values& values) {
  const GemmShape s = shape_of(program, target);
  const auto tile = values.numbers("tile");
  if (has_dots(values)) return dots_flaw(program, target, values);
  const std::int64_t unrolled = values["unroll"], steps = values["kc"] > 0 ? values["kc"] : s.part;
  if (unrolled > 1 && (unrolled + steps % unrolled) * tile[0] * tile[1] > kLongestBody) {
    return "unrolled body too long";
  }
  if ((values["block"] - 1) * tile[0] >= s.m) return "blocks larger than the matrix";
  if (values["grid"] == 1 && (values["block"] == 0 || values["inner"] == 1 || values["kc"] > 0)) {
    return "no blocks of rows and panels";
  }
  if (auto flaw = shares_flaw(s, target, values)) return flaw;
  return tile_flaw(tile[0], tile[1], {s.m, s.vectors()}, target);
}

void parallel_with_batch(TraceWriter& t, const GemmParts& p, schedule::Names outer) {
  if (!p.b.empty()) outer.insert(outer.begin(), p.b);
  if (outer.size() > 1) t.fuse("output", outer);
  t.parallel("output", fused_name(outer));
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
                                const GemmParts& p) {
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
  const bool inside = packs && block == 0 && rows_inside && p.right.copied();
  if (!packs) leave_unpacked(t, p.right);
  if (in_parts) place_sum_of_parts(t, lanes);
  if (packs) {
    pack_panels(t, p.right, {tile[1], lanes}, summed, {"output", inside ? j + ".0" : ""});
  }
  const std::string k = in_parts ? "k_1" : "k";
  register_tile(t, summed, k, values, lanes);
  if (!p.b.empty() && inside) {
    t.parallel("output", p.b);
  } else {
    const auto shared = order.begin() + (values["grid"] == 1 ? 2 : 1);
    parallel_with_batch(t, p, schedule::Names(order.begin(), shared));
  }
  t.unroll("output", row);
  t.unroll("output", j + ".1");
  t.vectorize("output", j + ".2");
  return t.take();
}

schedule::Trace cut_reduction(const target::Target& target, const space::Values& values,
                              const GemmParts& p) {
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
  } else {
    leave_unpacked(t, p.right);
  }
  register_tile(t, "rf.anchor", "k_1", values, lanes);
  parallel_with_batch(t, p, {p.i + ".0"});
  t.vectorize("output", p.j + ".1");
  return t.take();
}

schedule::Trace trace(const ir::Program& program, const target::Target& target,
                      const space::Values& values) {
  const GemmShape s = shape_of(program, target);
  const Right right = *right_of(program);
  const FusedStages fused = fused_stages_of(program, right);
  const auto& axes = program.find_stage("output")->axes;
  const bool batched = axes.size() == 3;
  const GemmParts parts{
      s, right, fused, batched ? axes[0].name : "", axes[axes.size() - 2].name, axes.back().name};
  if (has_dots(values)) return product_of_dots(target, values, parts);
  if (values["shares"] > 0) return shared_reduction(target, values, parts);
  return values["kc"] == 0 ? whole_reduction(target, values, parts)
                           : cut_reduction(target, values, parts);
}

}  // namespace

space::Template gemm() { return {"gemm", fits, knobs, trace, default_values, reject}; }

}  // namespace attune::templates

// Matrix products: matmul, dense and batch_matmul. Register tiles of rows x vectors; the right-hand
// matrix lies in panels as wide as a tile, packed at run time (matmul) or ahead (dense). Two loop
// orders: panel by panel, all rows inside, or block of rows by block of rows, all panels inside.
// With a long reduction, `kc` cuts it, and partial sums of a block of rows stay in the cache.
#include <algorithm>

#include "tuner/templates/families.h"
#include "tuner/templates/program_facts.h"
#include "tuner/templates/trace_writer.h"

namespace attune::templates {
namespace {

constexpr std::int64_t kRowsToPack = 96;

struct Shape {
  std::int64_t batch, m, n, k, lanes;
  std::int64_t vectors() const { return (n + lanes - 1) / lanes; }
};

Shape shape_of(const ir::Program& program, const ir::Target& target) {
  const ir::Stage& anchor = *program.find_stage("anchor");
  return {std::max<std::int64_t>(1, extent_of(anchor, "b")), extent_of(anchor, "i"),
          extent_of(anchor, "j"), extent_of(anchor, "k"), lanes_of(anchor, target)};
}

bool fits(const ir::Program& program) {
  const ir::Stage* anchor = program.find_stage("anchor");
  const ir::Stage* output = program.find_stage("output");
  return anchor && output && anchor->reduction == ir::Reduction::Sum &&
         (has_axes(*anchor, {"i", "j"}, {"k"}) || has_axes(*anchor, {"b", "i", "j"}, {"k"}));
}

std::vector<space::Knob> knobs(const ir::Program& program, const ir::Target& target) {
  const Shape s = shape_of(program, target);
  std::vector<space::Knob> list;
  list.push_back(register_tiles("tile", s.m, s.vectors(), target));
  // 0: panel outermost; otherwise tiles per block of rows, block outermost.
  list.push_back(space::choice_of("block", {0, 4, 8, 16, 32}));
  list.push_back(space::choice_of("unroll", {1, 2, 4}));
  std::vector<std::int64_t> cuts{0};
  for (std::int64_t kc : {256, 512, 1024}) {
    if (kc * 2 <= s.k) cuts.push_back(kc);
  }
  list.push_back(space::choice_of("kc", cuts));
  // Packing at run time pays only when enough rows share the panels.
  const bool ahead = program.find_stage("filter") != nullptr;
  list.push_back(space::choice_of(
      "pack", ahead ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{1, 0}));
  return list;
}

space::Settings default_values(const ir::Program& program, const ir::Target& target) {
  const Shape s = shape_of(program, target);
  const auto tiles = register_tiles("tile", s.m, s.vectors(), target);
  return {{"tile", best_tile(tiles, s.m, s.vectors())},
          {"block", {{0}}},
          {"unroll", {{1}}},
          {"kc", {{s.k > 4096 ? 512 : 0}}},
          {"pack", {{s.m >= kRowsToPack ? 1 : 0}}}};
}

struct Panel {
  std::int64_t vectors, lanes;
};

// The right-hand matrix, read by `consumer`, in panels; packed at a loop of output, or ahead of all
// loops when `loop` is empty.
void pack_panels(TraceWriter& t, const ir::Program& program, Panel panel,
                 const std::string& consumer, const std::string& loop) {
  const auto [vectors, lanes] = panel;
  const std::string width = std::to_string(vectors * lanes);
  if (program.find_stage("filter")) {
    t.split("filter", "j", {vectors, lanes});
    t.reorder("filter", {"j.0", "k", "j.1", "j.2"});
    t.vectorize("filter", "j.2");
    t.layout("filter", {"j/" + width, "k", "j%" + width});
    return;
  }
  const bool batched = program.find_stage("anchor")->axes.size() == 3;
  const std::string k = batched ? "i1" : "i0", j = batched ? "i2" : "i1";
  t.cache_read("b", consumer);
  if (!loop.empty()) t.compute_at("cache.b", "output", loop);
  t.split("cache.b", j, {vectors, lanes});
  t.reorder("cache.b", {j + ".0", k, j + ".1", j + ".2"});
  t.unroll("cache.b", j + ".1");
  t.vectorize("cache.b", j + ".2");
  schedule::Names layout{j + "/" + width, k, j + "%" + width};
  if (batched) layout.insert(layout.begin(), "i0");
  t.layout("cache.b", layout);
  if (loop.empty()) t.parallel("cache.b", batched ? "i0" : j + ".0");
}

// The loops of one register tile of `stage`, whose own axes are i and j and reduction `k`.
void register_tile(TraceWriter& t, const std::string& stage, const std::string& k,
                   const space::Values& values, std::int64_t lanes) {
  const auto tile = values.numbers("tile");
  t.registers(stage);
  t.split(stage, "j", {lanes});
  const std::int64_t unrolled = values["unroll"];
  schedule::Names order{k};
  if (unrolled > 1) {
    t.split(stage, k, {unrolled});
    order = {k + ".0", k + ".1"};
    t.unroll(stage, k + ".1");
  }
  // The smaller operand is loaded first and held, the other streams.
  if (tile[1] <= tile[0]) {
    order.insert(order.end(), {"i", "j.0", "j.1"});
  } else {
    order.insert(order.end(), {"j.0", "i", "j.1"});
  }
  t.reorder(stage, order);
  t.unroll(stage, "i");
  t.unroll(stage, "j.0");
  t.vectorize(stage, "j.1");
}

schedule::Trace whole_reduction(const ir::Program& program, const space::Values& values,
                                const Shape& s) {
  TraceWriter t;
  const auto tile = values.numbers("tile");
  const std::int64_t block = values["block"];
  t.inline_epilogues(program);
  t.split("output", "i",
          block == 0 ? schedule::Numbers{tile[0]} : schedule::Numbers{block, tile[0]});
  t.split("output", "j", {tile[1], s.lanes});
  const std::string row = block == 0 ? "i.1" : "i.2";
  const std::string rows = block == 0 ? "i.0" : "i.1";
  schedule::Names order;
  if (block == 0) {
    order = {"j.0", "i.0", row, "j.1", "j.2"};
  } else {
    order = {"i.0", "j.0", "i.1", row, "j.1", "j.2"};
  }
  t.reorder("output", order);
  t.compute_at("anchor", "output", rows);
  const bool packs = values["pack"] == 1 || program.find_stage("filter");
  const bool pack_inside = packs && block == 0 && !program.find_stage("filter");
  if (packs) pack_panels(t, program, {tile[1], s.lanes}, "anchor", pack_inside ? "j.0" : "");
  register_tile(t, "anchor", "k", values, s.lanes);
  std::string outer = order[0];
  if (s.batch > 1 && !pack_inside) {
    t.fuse("output", {"b", outer});
    outer = "b*" + outer;
  } else if (s.batch > 1) {
    outer = "b";
  }
  t.parallel("output", outer);
  t.unroll("output", row);
  t.unroll("output", "j.1");
  t.vectorize("output", "j.2");
  return t.take();
}

schedule::Trace cut_reduction(const ir::Program& program, const space::Values& values,
                              const Shape& s) {
  TraceWriter t;
  const auto tile = values.numbers("tile");
  const std::int64_t rows = tile[0] * std::max<std::int64_t>(values["block"], 4);
  t.inline_epilogues(program);
  t.split("anchor", "k", {values["kc"]});
  t.rfactor("anchor", "k.0");
  t.split("output", "i", {rows});
  t.split("output", "j", {s.lanes});
  t.compute_at("anchor", "output", "i.0");
  t.split("anchor", "i", {tile[0]});
  t.split("anchor", "j", {tile[1], s.lanes});
  t.reorder("anchor", {"k_0", "j.0", "i.0", "i.1", "j.1", "j.2"});
  t.annotate("anchor", "*", "init", "select");
  t.compute_at("rf.anchor", "anchor", "i.0");
  t.unroll("anchor", "i.1");
  t.unroll("anchor", "j.1");
  t.vectorize("anchor", "j.2");
  if (values["pack"] == 1) pack_panels(t, program, {tile[1], s.lanes}, "rf.anchor", {});
  register_tile(t, "rf.anchor", "k_1", values, s.lanes);
  std::string outer = "i.0";
  if (s.batch > 1) {
    t.fuse("output", {"b", "i.0"});
    outer = "b*i.0";
  }
  t.parallel("output", outer);
  t.vectorize("output", "j.1");
  return t.take();
}

schedule::Trace trace(const ir::Program& program, const ir::Target& target,
                      const space::Values& values) {
  const Shape s = shape_of(program, target);
  return values["kc"] == 0 ? whole_reduction(program, values, s)
                           : cut_reduction(program, values, s);
}

}  // namespace

space::Template gemm() { return {"gemm", fits, knobs, trace, default_values, nullptr}; }

}  // namespace attune::templates

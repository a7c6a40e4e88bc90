// Recurrent cells: a product with weights known ahead whose columns are parts (gates), and the
// arithmetic that makes a state of them (compiler/graph/tasks/cell.h). Register tiles of rows x
// vectors of columns, each with all parts; the weights lie in panels as wide as a tile, parts side
// by side for each step of the reduction. What follows the product is applied to the tile while it
// is in registers. Steps are short: whether threads share one is a knob.
#include <algorithm>
#include <limits>

#include "compiler/ir/nodes/rewrite.h"
#include "tuner/templates/dataflow.h"
#include "tuner/templates/families.h"
#include "tuner/templates/fused_stages.h"
#include "tuner/templates/program_facts.h"

namespace attune::templates {
namespace {

struct Shape {
  std::int64_t rows, parts, columns, k, lanes;
  std::int64_t part;  // of k, that one register tile sums up
  std::int64_t vectors() const { return (columns + lanes - 1) / lanes; }
};

Shape shape_of(const ir::Program& program, const target::Target& target) {
  const ir::Stage& anchor = *program.find_stage("anchor");
  const std::int64_t k = extent_of(anchor, "k");
  return {extent_of(anchor, "i"),   extent_of(anchor, "g"),     extent_of(anchor, "j"), k,
          lanes_of(anchor, target), steps_of_part(anchor, k, 1)};
}

FusedStages fused_stages_of(const ir::Program& program) { return {program, {"filter"}}; }

bool fits(const ir::Program& program) {
  const ir::Stage* anchor = program.find_stage("anchor");
  const ir::Stage* output = program.find_stage("output");
  const ir::Stage* filter = program.find_stage("filter");
  if (!anchor || !output || !filter || anchor->reduction != ir::Reduction::Sum ||
      !has_axes(*anchor, {"i", "g", "j"}, {"k"}) || !depends_on_constants(program, *filter)) {
    return false;
  }
  const auto& axes = output->axes;
  return (axes.size() == 2 || axes.size() == 3) &&
         axes[axes.size() - 2].extent == extent_of(*anchor, "i") &&
         axes.back().extent == extent_of(*anchor, "j") && fused_stages_of(program).placeable();
}

// Accumulators of a tile, with a vector of weights and a broadcast.
bool spills(const Shape& s, std::int64_t rows, std::int64_t vectors, const target::Target& target) {
  return s.parts * rows * vectors + rows + 1 > target.vector_registers;
}

space::Knob tiles(const Shape& s, const target::Target& target) {
  constexpr std::int64_t kMostVectors = 8;
  space::Knob knob{"tile", space::KnobKind::Split, {}};
  for (std::int64_t v = 1; v <= std::min(s.vectors(), kMostVectors); ++v) {
    for (std::int64_t r = 1; r <= s.rows && (r == 1 || !spills(s, r, v, target)); ++r) {
      if (v == 1 || !spills(s, r, v, target)) knob.choices.push_back({{r, v}});
    }
  }
  return knob;
}

std::vector<space::Knob> knobs(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program, target);
  std::vector<space::Knob> list;
  list.push_back(tiles(s, target));
  list.push_back(unroll_steps("unroll", std::min(s.k, s.part)));
  // 0: one thread; 1: all share a step; 2: and each first fetches the data, which others wrote.
  list.push_back(space::choice_of("threads", {2, 1, 0}));
  // The innermost loop around a tile: 0 over rows, with the panel held, 1 over panels.
  list.push_back(space::choice_of(
      "inner", s.rows > 1 ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{0}));
  return list;
}

// How a step is computed: by tiles, on so many threads, which have rows or columns each.
struct Way {
  space::Choice tile;
  std::int64_t threads = 1;
  bool by_rows = false;
};

// Cycles of the longest thread: for each step of a tile those of its multiply-adds, of its loads,
// and of its weights, which come from the second cache.
double cycles_of(const Shape& s, const Way& way, const target::Target& target) {
  const target::Machine& m = target.machine;
  const std::int64_t r = way.tile.numbers[0], v = way.tile.numbers[1];
  const std::int64_t panels = (s.vectors() + v - 1) / v, blocks = (s.rows + r - 1) / r;
  const std::int64_t cut = way.by_rows ? blocks : panels;
  const std::int64_t most = (cut + way.threads - 1) / way.threads;
  const double bytes = std::max(1, target.vector_bytes);
  const auto weights = static_cast<double>(s.parts * v), all = weights * static_cast<double>(r);
  const double fmas = std::min(m.fmas_per_cycle, m.fma_bytes_per_cycle / bytes);
  const double loads = std::min(m.loads_per_cycle, m.load_bytes_per_cycle / bytes);
  const double each =
      std::max({all / fmas, m.fma_latency, (weights + static_cast<double>(r)) / loads,
                weights * bytes / m.l2_bandwidth});
  return static_cast<double>(most * (way.by_rows ? panels : blocks)) *
         (each * static_cast<double>(s.k) + m.fma_latency);
}

// The fastest on one thread or on all. Of equal ones rows are shared: then no thread reads what
// another one wrote in the step before.
Way fastest_way(const Shape& s, std::int64_t threads, const target::Target& target) {
  Way best{{}, 1, false};
  double least = std::numeric_limits<double>::max();
  for (const bool by_rows : {true, false}) {
    for (const space::Choice& tile : tiles(s, target).choices) {
      const Way way{tile, threads, by_rows};
      const double cycles = cycles_of(s, way, target);
      if (cycles < least) least = cycles, best = way;
    }
  }
  return best;
}

space::Settings default_values(const ir::Program& program, const target::Target& target) {
  const Shape s = shape_of(program, target);
  const Way alone = fastest_way(s, 1, target);
  const Way shared = fastest_way(s, std::max(1, target.threads), target);
  const double us_per_cycle = 1e-3 / target.machine.ghz;
  const double start_us = target::fork_join_us(target.machine, target.threads);
  const bool parallel = cycles_of(s, shared, target) * us_per_cycle + start_us <
                        cycles_of(s, alone, target) * us_per_cycle;
  const std::int64_t fetches = shared.by_rows ? 1 : 2;
  return {{"tile", parallel ? shared.tile : alone.tile},
          {"unroll", {{1}}},
          {"threads", {{parallel ? fetches : 0}}},
          {"inner", {{parallel && shared.by_rows ? 1 : 0}}}};
}

std::optional<std::string> reject(const ir::Program& program, const target::Target& target,
                                  const space::Values& values) {
  const Shape s = shape_of(program, target);
  const auto tile = values.numbers("tile");
  if (tile[0] * tile[1] > 1 && spills(s, tile[0], tile[1], target)) return "register tile spills";
  return std::nullopt;
}

// The weights: panels of columns, in them the steps, in those the parts.
void pack_panels(TraceWriter& t, std::int64_t vectors, std::int64_t lanes) {
  const std::string width = std::to_string(vectors * lanes);
  t.split("filter", "j", {vectors, lanes});
  t.reorder("filter", {"j.0", "k", "g", "j.1", "j.2"});
  t.vectorize("filter", "j.2");
  t.layout("filter", {"j/" + width, "k", "g", "j%" + width});
}

// The tensor that the product reads beside the weights, behind stages that only move it, with the
// name of its last axis in a copy.
struct Data {
  std::string tensor, last;
};
std::optional<Data> data_of(const ir::Program& program) {
  const ir::Buffer filter = program.find_stage("filter")->outputs[0];
  const ir::Stage* reader = program.find_stage("anchor");
  while (true) {
    ir::Buffer read;
    ir::visit(reader->values[0], [&](const ir::Expr& e) {
      const auto* load = ir::as<ir::Load>(e);
      if (load != nullptr && load->buffer != filter) read = load->buffer;
    });
    if (!read || read->shape.empty()) return std::nullopt;
    const ir::Stage* producer = program.producer(read);
    if (producer == nullptr) {
      return Data{read->name, "i" + std::to_string(read->shape.size() - 1)};
    }
    if (!only_moves(*producer)) return Data{read->name, producer->axes.back().name};
    reader = producer;
  }
}

// All lines that another core may hold are asked for at once, before the product wants them one by
// one.
void fetch_data(TraceWriter& t, const ir::Program& program, const std::string& consumer,
                const std::string& loop, std::int64_t lanes) {
  const auto data = data_of(program);
  if (!data) return;
  const std::string copy = "cache." + data->tensor;
  t.cache_read(data->tensor, consumer);
  t.compute_at(copy, "output", loop);
  t.split(copy, data->last, {lanes});
  t.vectorize(copy, data->last + ".1");
}

void unroll_tile(TraceWriter& t, const std::string& stage) {
  for (const char* loop : {"i", "g", "j.0"}) t.unroll(stage, loop);
  t.vectorize(stage, "j.1");
}

// The sum of the parts of the reduction; what they are, rf.anchor, is computed at it.
void place_sum(TraceWriter& t, std::int64_t lanes) {
  t.split("anchor", "j", {lanes});
  t.reorder("anchor", {"k_0", "i", "g", "j.0", "j.1"});
  t.annotate("anchor", "*", "init", "select");
  t.compute_at("rf.anchor", "anchor", "k_0");
  unroll_tile(t, "anchor");
}

void register_tile(TraceWriter& t, const std::string& stage, const std::string& k,
                   std::int64_t unrolled, std::int64_t lanes) {
  t.registers(stage);
  t.split(stage, "j", {lanes});
  schedule::Names order{k};
  if (unrolled > 1) {
    t.split(stage, k, {unrolled});
    order = {k + ".0", k + ".1"};
    t.unroll(stage, k + ".1");
  }
  order.insert(order.end(), {"g", "j.0", "i", "j.1"});
  t.reorder(stage, order);
  unroll_tile(t, stage);
}

schedule::Trace trace(const ir::Program& program, const target::Target& target,
                      const space::Values& values) {
  const Shape s = shape_of(program, target);
  const FusedStages fused = fused_stages_of(program);
  const auto& axes = program.find_stage("output")->axes;
  const std::string i = axes[axes.size() - 2].name, j = axes.back().name;
  const auto tile = values.numbers("tile");
  TraceWriter t;
  fused.place(t, target);
  const bool in_parts = s.part < s.k;
  if (in_parts) {
    t.split("anchor", "k", {s.part});
    t.rfactor("anchor", "k.0");
  }
  t.split("output", i, {tile[0]});
  t.split("output", j, {tile[1], s.lanes});
  schedule::Names order{j + ".0", i + ".0"};
  if (values["inner"] == 1) std::swap(order[0], order[1]);
  const std::string outer = order[0], tile_loop = order[1];
  if (axes.size() == 3) order.push_back(axes[0].name);
  order.insert(order.end(), {i + ".1", j + ".1", j + ".2"});
  t.reorder("output", order);
  fused.attach(t, target, tile_loop);
  t.compute_at("anchor", "output", tile_loop);
  if (in_parts) place_sum(t, s.lanes);
  pack_panels(t, tile[1], s.lanes);
  const std::string summed = in_parts ? "rf.anchor" : "anchor";
  if (values["threads"] == 2) fetch_data(t, program, summed, outer, s.lanes);
  register_tile(t, summed, in_parts ? "k_1" : "k", values["unroll"], s.lanes);
  if (values["threads"] > 0) t.parallel("output", outer);
  if (axes.size() == 3) t.unroll("output", axes[0].name);
  t.unroll("output", i + ".1");
  t.unroll("output", j + ".1");
  t.vectorize("output", j + ".2");
  return t.take();
}

}  // namespace

space::Template cell() { return {"cell", fits, knobs, trace, default_values, reject}; }

}  // namespace attune::templates

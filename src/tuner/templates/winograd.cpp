// Winograd convolution F(m,3) (Lavin and Gray 2016): transformed inputs are made once for all
// tiles; then, group of output channels by group, the products of all tiles, from register tiles of
// tiles x channel blocks, and right away their output transform, so that the products stay in the
// cache. Transformed weights lie in the order in which they are read and are made ahead of time.
#include <algorithm>

#include "tuner/templates/families.h"
#include "tuner/templates/program_facts.h"
#include "tuner/templates/surroundings.h"

namespace attune::templates {
namespace {

const std::vector<std::string> kOwn{"filter",     "filter.rows", "filter.wino", "pad",
                                    "input.rows", "input.wino",  "output.rows", "output.wino"};

struct Shape {
  std::int64_t oc, tiles, ob, outputs;  // outputs: rows and columns that one tile makes
};

Shape shape_of(const ir::Program& program) {
  const ir::Stage& anchor = *program.find_stage("anchor");
  return {extent_of(anchor, "oc"), extent_of(anchor, "tile"), extent_of(anchor, "ob"),
          extent_of(*program.find_stage("output.rows"), "y")};
}

bool fits(const ir::Program& program) {
  const ir::Stage* anchor = program.find_stage("anchor");
  const ir::Stage* transformed = program.find_stage("output.wino");
  const ir::Stage* output = program.find_stage("output");
  return anchor && has_axes(*anchor, {"i", "j", "oc", "tile", "ob"}, {"ic", "ib"}) &&
         program.find_stage("input.wino") && program.find_stage("output.rows") && output &&
         transformed && same_extents(*transformed, *output) &&
         Surroundings(program, kOwn).placeable();
}

std::vector<space::Knob> knobs(const ir::Program& program, const ir::Target& target) {
  const Shape s = shape_of(program);
  return {register_tiles("tile", s.tiles, s.oc, target), space::choice_of("unroll", {1, 2, 4})};
}

space::Settings default_values(const ir::Program& program, const ir::Target& target) {
  const Shape s = shape_of(program);
  const auto tiles = register_tiles("tile", s.tiles, s.oc, target);
  return {{"tile", best_tile(tiles, s.tiles, s.oc)}, {"unroll", {{1}}}};
}

void transform_weights(TraceWriter& t, const ir::Program& program, std::int64_t group) {
  t.inline_if_present(program, "filter");
  t.compute_at("filter.rows", "filter.wino", "ic");
  t.reorder("filter.wino", {"oc", "ic", "i", "j"});
  for (const char* loop : {"i", "j"}) t.unroll("filter.wino", loop);
  for (const char* loop : {"i", "kw"}) t.unroll("filter.rows", loop);
  const std::string width = std::to_string(group);
  t.layout("filter.wino", {"oc/" + width, "i", "j", "ic", "oc%" + width});
}

void transform_input(TraceWriter& t, const ir::Program& program) {
  if (program.find_stage("pad")) {
    t.parallel("pad", "ic");
    t.vectorize("pad", "ib");
  }
  t.reorder("input.wino", {"ic", "tile", "i", "j", "ib"});
  t.parallel("input.wino", "ic");
  t.compute_at("input.rows", "input.wino", "tile");
  t.registers("input.rows");
  t.reorder("input.rows", {"ic", "tile", "i", "c", "ib"});
  for (const char* loop : {"i", "c"}) t.unroll("input.rows", loop);
  for (const char* loop : {"i", "j"}) t.unroll("input.wino", loop);
  t.vectorize("input.rows", "ib");
  t.vectorize("input.wino", "ib");
}

void multiply(TraceWriter& t, const space::Values& values) {
  const auto tile = values.numbers("tile");
  t.split("anchor", "tile", {tile[0]});
  t.reorder("anchor", {"i", "j", "tile.0", "tile.1", "oc", "ob"});
  t.compute_at("cache.anchor", "anchor", "tile.0");
  for (const char* loop : {"tile.1", "oc"}) t.unroll("anchor", loop);
  t.vectorize("anchor", "ob");
  t.registers("cache.anchor");
  schedule::Names order{"i", "j", "ic", "ib"};
  if (values["unroll"] > 1) {
    t.split("cache.anchor", "ib", {values["unroll"]});
    order = {"i", "j", "ic", "ib.0", "ib.1"};
    t.unroll("cache.anchor", "ib.1");
  }
  if (tile[1] <= tile[0]) {
    order.insert(order.end(), {"tile", "oc", "ob"});
  } else {
    order.insert(order.end(), {"oc", "tile", "ob"});
  }
  t.reorder("cache.anchor", order);
  for (const char* loop : {"tile", "oc"}) t.unroll("cache.anchor", loop);
  t.vectorize("cache.anchor", "ob");
}

schedule::Trace trace(const ir::Program& program, const ir::Target& target,
                      const space::Values& values) {
  const Shape s = shape_of(program);
  const auto tile = values.numbers("tile");
  const ir::Stage& output = *program.find_stage("output");
  const std::string n = output.axes[0].name, oc = output.axes[1].name, oh = output.axes[2].name,
                    ow = output.axes[3].name, ob = output.axes[4].name;
  const Surroundings surroundings(program, kOwn);
  TraceWriter t;
  surroundings.place(t, target);
  t.cache_write("anchor");
  transform_weights(t, program, tile[1] * s.ob);
  transform_input(t, program);
  t.inline_stage("output.wino");
  t.split("output", oc, {tile[1]});
  t.split("output", oh, {s.outputs});
  t.split("output", ow, {s.outputs});
  t.reorder("output", {n, oc + ".0", oc + ".1", oh + ".0", ow + ".0", oh + ".1", ow + ".1", ob});
  surroundings.attach(t, target, ow + ".0");
  t.compute_at("output.rows", "output", ow + ".0");
  t.compute_at("anchor", "output", oc + ".0");
  t.parallel("output", oc + ".0");
  multiply(t, values);
  t.registers("output.rows");
  for (const char* loop : {"y", "j"}) t.unroll("output.rows", loop);
  for (const std::string& loop : {oh + ".1", ow + ".1"}) t.unroll("output", loop);
  t.vectorize("output.rows", "ob");
  t.vectorize("output", ob);
  return t.take();
}

}  // namespace

space::Template winograd() { return {"winograd", fits, knobs, trace, default_values, nullptr}; }

}  // namespace attune::templates
